"""The debug attributes: origins and propagation edges, collected step by step and written.

Attributes and their names are Shardy's: `sdy.sharding_origins` on values that are sharded,
`sdy.sharding_origin_name` on what has a name as an origin, `sdy.propagation_edges` on ops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.ir.data_flow import DATA_FLOW_EDGE, owning_op
from sdy.ir.op_names import CONSTRAINT, FUNCTION, RETURN
from sdy.ir.sharding_access import shardable_value
from sdy.ir.signature_attributes import Field, add_signature_attributes
from sdy.ir.symbols import symbol_name
from sdy.passes.propagation.axis_flows import constraint_flows, step_flows
from sdy.passes.propagation.edges import edges_text
from sdy.passes.propagation.origins import Origin, OriginKind, annotated_ops, initial_origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.axis_flows import AxisFlow
    from sdy.passes.propagation.engine import Engine
    from sdy.passes.propagation.origins import Origins
    from sdy.passes.propagation.recording import Recording
    from sdy.passes.propagation.step_case import StepCase

__all__ = ["NO_DEBUG", "DebugAttributes", "DebugOptions"]

_ORIGINS = "sdy.sharding_origins"
_ORIGIN_NAME = "sdy.sharding_origin_name"
_EDGES = "sdy.propagation_edges"

_STEP = re.compile(r"step-(\d+)")


@dataclass(frozen=True, slots=True)
class DebugOptions:
    """Which debug attributes are written.

    Attributes:
      origins: whose annotation each axis goes back to.
      edges: through which op, from which operand or result, each axis came.

    """

    origins: bool = False
    edges: bool = False

    def __bool__(self) -> bool:
        return self.origins or self.edges


NO_DEBUG = DebugOptions()


@dataclass(frozen=True, slots=True)
class _OpFlows:
    """An op, how many of the positions of its flows are operands, and its flows by step."""

    op: ir.Operation
    operand_count: int
    flows: list[tuple[int, AxisFlow]]


class DebugAttributes:
    """Follows axes from before the first step on; writes where they came from at the end.

    Attributes:
      origins: the origins of all axes; None where they are not asked for.

    """

    def __init__(self, module: IndexedModule, options: DebugOptions) -> None:
        """Take the origins as they are now, and name the ops that are some."""
        self.origins: Origins | None = None
        self._module = module
        self._with_edges = options.edges
        self._flows: dict[int, _OpFlows] = {}
        self._step = _first_free_step(module) if options.edges else 0
        if options.origins:
            self.origins = initial_origins(module)
            _name_origins(module)

    def step(
        self,
        number: int,
        op: ir.Operation,
        operand_count: int,
        values: Sequence[ir.Value | None],
        flows: Sequence[AxisFlow],
    ) -> None:
        """Take note of one step.

        Args:
          number: one that stands for the op.
          op: the op; a function, where a value that it returns and its result are made to agree.
          operand_count: how many of the values are operands.
          values: the values of the step that shardings are on; None where none can be.
          flows: what the step moved from which value to which.

        """
        if self.origins is not None:
            self.origins.follow(flows, values)
        if self._with_edges and flows:
            of_op = self._flows.setdefault(number, _OpFlows(op, operand_count, []))
            of_op.flows.extend((self._step, flow) for flow in flows)
        self._step += 1

    def constraint_applied(self, number: int, op: ir.Operation) -> None:
        """Take note that the input of a constraint, which had no sharding, got the constraint's.

        Args:
          number: one that stands for the op.
          op: the constraint, with its sharding rule as an attribute.

        """
        sharding = self._module.codec.sharding(op.attributes["sharding"])
        if SHARDING_RULE in op.attributes:
            flows = constraint_flows(read_rule(op.attributes[SHARDING_RULE]), sharding)
            if flows is not None:
                self.step(number, op, 1, (shardable_value(op.operands[0]), op.result), flows)

    def replay(self, recording: Recording, engine: Engine) -> None:
        """Take note of all steps of a propagation."""
        graph = engine.graph
        if self.origins is not None:
            self.origins.groups = _value_groups(engine)
        flows: dict[StepCase, tuple[AxisFlow, ...]] = {}
        for taken in recording.steps:
            case, tensors = taken.case, taken.tensors
            if case not in flows:
                flows[case] = step_flows(case)
            if graph.names[taken.op] == FUNCTION:
                # A result of a function is no value; what is returned there stands for it.
                tensors = tensors[:1] * 2
            values = [graph.value(t) if t < graph.value_count else None for t in tensors]
            operand_count = len(case.op.rule.operands)
            self.step(taken.op, graph.ops[taken.op], operand_count, values, flows[case])

    def write(self) -> None:
        """Write the attributes."""
        if self.origins is not None:
            _write_origins(self.origins, self._module.ops(FUNCTION))
        for of_op in self._flows.values():
            _write_edges(of_op)


def _value_groups(engine: Engine) -> dict[ir.Value, list[ir.Value]]:
    graph, of_value = engine.graph, engine.tensors.of_value
    return {
        graph.value(of_value[value]): [graph.value(of_value[member]) for member in members]
        for value, members in engine.groups.items()
    }


def _first_free_step(module: IndexedModule) -> int:
    """Return the number after those of the steps that ops already tell of."""
    attributes = (op.attributes for _, op in module.in_order)
    texts = {str(a[_EDGES]) for a in attributes if _EDGES in a}
    return max((int(step) + 1 for text in texts for step in _STEP.findall(text)), default=0)


def _name_origins(module: IndexedModule) -> None:
    constraints, computations = annotated_ops(module)
    context = module.context
    for number, op in enumerate(constraints):
        name = str(Origin(OriginKind.CONSTRAINT, op=number))
        op.attributes[_ORIGIN_NAME] = ir.StringAttr.get(name, context)
    for number, op in enumerate(computations):
        op.attributes[_ORIGIN_NAME] = ir.StringAttr.get(f"mc_{number}", context)
    module.forget_structure()


def _write_edges(of_op: _OpFlows) -> None:
    op, flows = of_op.op, of_op.flows
    if op.name == FUNCTION:
        # Shardy keeps those of all results with the first.
        text = edges_text(flows, of_op.operand_count)
        edges = ir.Attribute.parse(text, op.context)
        add_signature_attributes(op, "res_attrs", _EDGES, {0: edges})
        return
    # A data-flow edge has one operand, whatever flows into it: the other sources have no name.
    count = len(op.operands)
    nameable = [
        (step, flow)
        for step, flow in flows
        if not any(count <= p < of_op.operand_count for p in (flow.source, flow.target))
    ]
    if nameable:
        text = edges_text(nameable, of_op.operand_count)
        op.attributes[_EDGES] = ir.Attribute.parse(text, op.context)


def _write_origins(origins: Origins, functions: Iterable[ir.Operation]) -> None:
    signatures: dict[tuple[str, Field], dict[int, ir.Attribute]] = {}
    for value, axes in origins.of_value.items():
        returned = _use_by_return(value)
        if returned is not None:
            function, index = returned
            results = signatures.setdefault((function, "res_attrs"), {})
            results[index] = _origins_attribute(axes, Origin(OriginKind.OUTPUT, index), value)
        attribute = _origins_attribute(axes, origins.own.get(value), value)
        op = owning_op(value)
        if not isinstance(value, ir.BlockArgument):
            _write_result_origins(op, ir.OpResult(value).result_number, attribute)
        elif op.name == FUNCTION:
            arguments = signatures.setdefault((symbol_name(op), "arg_attrs"), {})
            arguments[value.arg_number] = attribute
    by_name = {symbol_name(function): function for function in functions}
    for (function, field), attributes in signatures.items():
        add_signature_attributes(by_name[function], field, _ORIGINS, attributes)


def _use_by_return(value: ir.Value) -> tuple[str, int] | None:
    """Return the name of the function that returns a value, and as which result.

    None where none does. Where it is several results, one has the origins: the first in MLIR's
    order of uses.
    """
    for use in value.uses:
        user = use.owner.operation
        if user.name == RETURN:
            return symbol_name(user.parent.operation), use.operand_number
    return None


def _origins_attribute(
    axes: Mapping[AxisRef, Origin], own: Origin | None, value: ir.Value
) -> ir.Attribute:
    context = value.context
    names = {
        str(axis).replace('"', ""): ir.StringAttr.get(
            "self" if origin == own else str(origin), context
        )
        for axis, origin in axes.items()
    }
    return ir.DictAttr.get(names, context)


def _write_result_origins(op: ir.Operation, index: int, attribute: ir.Attribute) -> None:
    if op.name in (CONSTRAINT, DATA_FLOW_EDGE):
        op.attributes[_ORIGINS] = attribute
        return
    entries = [ir.DictAttr.get({}, op.context)] * len(op.results)
    if _ORIGINS in op.attributes:
        entries = list(ir.ArrayAttr(op.attributes[_ORIGINS]))
    entries[index] = attribute
    op.attributes[_ORIGINS] = ir.ArrayAttr.get(entries, op.context)
