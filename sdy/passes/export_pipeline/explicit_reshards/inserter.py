"""Inserts what was planned, and finds out for each op what that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow import DATA_FLOW_OPS
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.diagnostics import op_error
from sdy.ir.function_shardings import argument_shardings
from sdy.ir.op_names import CALL, FUNCTION, RESHARD
from sdy.ir.op_traits import is_terminator
from sdy.ir.symbols import symbol_name
from sdy.ir.types import element_count
from sdy.passes.export_pipeline.explicit_reshards.op_plan import OpCase, OpPlan, kind_of, plan_op
from sdy.passes.export_pipeline.explicit_reshards.op_rules import read_op_rule, rule_key
from sdy.passes.export_pipeline.explicit_reshards.steps import Reshard
from sdy.passes.export_pipeline.explicit_reshards.targets import (
    call_targets,
    edge_targets,
    return_targets,
)
from sdy.passes.export_pipeline.explicit_reshards.use_steps import (
    operand_all_reduces,
    steps_to,
    steps_to_unreduced,
)
from sdy.passes.export_pipeline.explicit_reshards.value_types import ValueTypes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.export_pipeline.explicit_reshards.steps import Step
    from sdy.passes.export_pipeline.explicit_reshards.targets import UseTarget

__all__ = ["ALWAYS_RESHARDED", "Inserter"]

_CONCATENATE = "stablehlo.concatenate"
_RAGGED_DOT = "mhlo.ragged_dot"
ALWAYS_RESHARDED = frozenset(
    {CALL, _CONCATENATE, _RAGGED_DOT, "stablehlo.dot", "stablehlo.dot_general"}
)
"""Names of the ops around which something may be inserted though conflicts may stay."""


class Inserter:
    """Inserts reshards and collectives around ops, one after the other.

    Attributes:
      has_changed: whether anything was inserted so far.

    """

    def __init__(self, module: IndexedModule, *, is_full: bool, has_unreduced_axes: bool) -> None:
        self.has_changed = False
        self._module = module
        self._codec = module.codec
        self._is_full = is_full
        self._has_unreduced_axes = has_unreduced_axes
        self._types = ValueTypes(module)
        self._plans: dict[Hashable, OpPlan] = {}
        self._steps: dict[Hashable, tuple[Step, ...]] = {}
        functions = [op for op in module.root_ops() if op.name == FUNCTION]
        self._functions = {symbol_name(op): op for op in functions}
        self._arguments: dict[str, tuple[ir.Attribute, ...] | None] = {}

    def visit(self, op: ir.Operation, name: str) -> None:
        """Insert what an op of that name needs; for a function, what it returns.

        The ops in a region of the op have been visited.

        Raises:
          Error: at the op, where unreduced axes do not go with it.

        """
        if is_terminator(name):
            return
        try:
            if name in DATA_FLOW_OPS:
                self._meet(edge_targets(op, self._codec), may_reshard=self._is_full)
            elif name == FUNCTION:
                self._meet(return_targets(op), may_reshard=self._is_full, before_user=True)
            elif name == CALL:
                self._meet(self._call_targets(op), may_reshard=True)
            elif name != RESHARD or not self._turn_unreduced(op):
                self._visit_op(op, name)
        except Error as error:
            raise op_error(op, str(error)) from None

    def _call_targets(self, call: ir.Operation) -> Iterator[UseTarget]:
        name = callee_name(call)
        if name not in self._arguments:
            shardings = argument_shardings(self._functions[name], self._codec)
            self._arguments[name] = shardings and tuple(map(self._codec.attribute, shardings))
        return call_targets(call, self._arguments[name], self._types, self._codec)

    def _meet(
        self, targets: Iterable[UseTarget], *, may_reshard: bool, before_user: bool = False
    ) -> None:
        """Bring each use to its target, right after the value that is used or before its user."""
        for target in targets:
            operands = target.user.operands
            value = operands[target.operand]
            key = self._types.of(value), target.sharding, may_reshard
            steps = self._steps.get(key)
            if steps is None:
                steps = self._steps[key] = steps_to(
                    self._sharding(value), self._read(target.sharding), may_reshard=may_reshard
                )
            if steps:
                place = ir.InsertionPoint(target.user)
                if not before_user:
                    place = insertion_point_after(value)
                operands[target.operand] = self._insert(steps, value, place)

    def _turn_unreduced(self, reshard: ir.Operation) -> bool:
        """Replace a reshard that makes axes unreduced; return whether it is one."""
        value = reshard.operands[0]
        steps = steps_to_unreduced(self._sharding(value), self._sharding(reshard.result))
        if steps:
            new = self._insert(steps, value, ir.InsertionPoint(reshard))
            reshard.result.replace_all_uses_with(new)
            self._types.forget(reshard.result)
            reshard.erase()
        return bool(steps)

    def _reduce_operands(self, op: ir.Operation) -> None:
        """Sum up the operands of an op along axes that are not unreduced in its results."""
        operands, results = (map(self._sharding, values) for values in (op.operands, op.results))
        for index, step in operand_all_reduces(list(operands), list(results)):
            operand = op.operands[index]
            op.operands[index] = self._insert((step,), operand, ir.InsertionPoint(op))

    def _visit_op(self, op: ir.Operation, name: str) -> None:
        types = self._types
        operands = types.of_operands(op)
        results = types.of_results(op, name)
        may_reshard = self._is_full or self._must_agree(name, operands, results)
        if self._has_unreduced_axes:
            self._reduce_operands(op)
            operands = types.of_operands(op)
        sources = types.of_sources(op, operands)
        key = name, rule_key(op, name), operands, sources, results, may_reshard
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = plan_op(
                OpCase(
                    kind_of(name),
                    may_reshard,
                    read_op_rule(op, self._codec),
                    tuple(element_count(types.type(n).type) for n in operands + results),
                    self._shardings(operands),
                    self._shardings(sources),
                    self._shardings(results),
                )
            )
        if not plan.is_empty:
            self._carry_out(plan, op)

    def _must_agree(self, name: str, operands: tuple[int, ...], results: tuple[int, ...]) -> bool:
        """Return whether XLA wants the tensors of an op to agree in any case."""
        if name != _CONCATENATE:
            return name == _RAGGED_DOT
        return len({self._types.type(n).sharding for n in operands + results}) > 1

    def _carry_out(self, plan: OpPlan, op: ir.Operation) -> None:
        before = ir.InsertionPoint(op)
        for index, sharding in plan.operands:
            op.operands[index] = self._insert((Reshard(sharding),), op.operands[index], before)
        after = ir.InsertionPoint.after(op)
        for reshard in plan.results:
            result = op.results[reshard.index]
            self._insert_behind(result, Reshard(reshard.wanted), after)
            self._types.set_sharding(result, reshard.sharding)
        after = ir.InsertionPoint.after(op)
        for index, step in plan.summed:
            self._insert_behind(op.results[index], step, after)

    def _insert_behind(self, result: ir.Value, step: Step, at: ir.InsertionPoint) -> None:
        """Apply a step to a result; what used the result uses that of the step."""
        new = self._insert((step,), result, at)
        result.replace_all_uses_except(new, new.owner.operation)

    def _insert(self, steps: Iterable[Step], value: ir.Value, at: ir.InsertionPoint) -> ir.Value:
        location = value.location
        for step in steps:
            value = ir.Operation.create(
                step.name,
                results=[value.type],
                operands=[value],
                attributes=step.attributes(self._codec, self._module.context),
                loc=location,
                ip=at,
            ).result
            self._types.add(value, self._codec.attribute(step.sharding))
        self.has_changed = True
        return value

    def _sharding(self, value: ir.Value) -> TensorSharding | None:
        return self._read(self._types.type(self._types.of(value)).sharding)

    def _shardings(self, numbers: Iterable[int]) -> tuple[TensorSharding | None, ...]:
        return tuple(self._read(self._types.type(number).sharding) for number in numbers)

    def _read(self, attribute: ir.Attribute | None) -> TensorSharding | None:
        return None if attribute is None else self._codec.sharding(attribute)
