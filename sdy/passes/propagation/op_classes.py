"""Which step each op takes: its class, and the tensors that the step makes agree.

Ops whose rules have equal keys share one rule, and with it one class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import add_free_axes, erase_manual_axes
from sdy.ir import data_flow
from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import BARRIER, CALL, FUNC_EDGE, FUNCTION
from sdy.ir.op_traits import is_elementwise, is_elementwise_op
from sdy.ir.sharding_access import manual_axes
from sdy.ir.structure import NOTHING
from sdy.ir.types import shape
from sdy.passes.propagation.data_flow import edge_sources
from sdy.passes.propagation.op_priorities import Flow
from sdy.passes.propagation.rules.builder import identity_rule
from sdy.passes.propagation.rules.registration import RuleEntry
from sdy.passes.propagation.rules.registry import RULES
from sdy.passes.propagation.step_case import OpClass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.data_flow import Calls
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.tensors import Tensors

__all__ = ["NO_CLASS", "OpClasses", "Transform"]

NO_CLASS = -1

_PASS_THROUGH = frozenset({"stablehlo.reshape", "stablehlo.transpose"})
_DYNAMIC_SLICES = frozenset({"stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"})
_OFFLOAD_TARGETS = frozenset({"MoveToHost", "MoveToDevice"})
_BARRIER_FLOWS = (
    Flow.BARRIER_NONE,
    Flow.BARRIER_FORWARD,
    Flow.BARRIER_BACKWARD,
    Flow.BARRIER_BOTH,
)

_FUNC_EDGE_MISPLACED = "expected operand of sdy.func_data_flow_edge to be a result of call op."

_OWN_RULE = RuleEntry(lambda op, _: read_rule(op.attributes[SHARDING_RULE]), (SHARDING_RULE,))
"""That of an op that came with its rule."""

Transform = tuple[
    "Callable[[TensorSharding], TensorSharding]", "Callable[[TensorSharding], TensorSharding]"
]


class _Family:
    """The ops of one name.

    Attributes:
      name: the name.
      entry: how the rules of these ops are made; None where they have none.
      reads_properties: whether their rules depend on properties of the op.
      is_edge: whether they are data-flow edges.
      classes: the classes of the ops met, by the numbers of their types and properties.

    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.entry = RULES.get(name)
        self.reads_properties = self.entry is not None and bool(self.entry.reads)
        self.is_edge = name in (data_flow.DATA_FLOW_EDGE, FUNC_EDGE)
        self.classes: dict[tuple[int, ...], int] = {}


class OpClasses:
    """The classes of the ops of a graph.

    Attributes:
      classes: the distinct classes.
      of_op: for each op the index of its class; NO_CLASS where it takes no step.
      tensors: for each op the tensors of its step: operands, then results.
      transforms: for the edges of manual computations, how their result's sharding is seen by
        the step, and how what the step makes of it is kept.
      with_own_rule: the ops that came with a rule as an attribute.

    """

    def __init__(
        self,
        graph: Graph,
        calls: Calls,
        tensors: Tensors,
        codec: AttributeCodec,
        *,
        conservative: bool,
    ) -> None:
        self.classes: list[OpClass] = []
        self.of_op: list[int] = [NO_CLASS] * len(graph.ops)
        self.tensors: list[tuple[int, ...]] = [()] * len(graph.ops)
        self.transforms: dict[int, Transform] = {}
        self.with_own_rule: list[int] = []
        self._graph = graph
        self._of_value = tensors.of_value
        self._codec = codec
        self._calls = calls
        self._conservative = conservative
        self._numbers: dict[OpClass, int] = {}
        self._by_key: dict[Hashable, int] = {}
        self._with_own_rule = self._attributes_with_rule()
        self._classify()

    def _attributes_with_rule(self) -> set[int]:
        """Return the numbers of attributes among which is a rule."""
        numbers = self._graph.structure.attributes
        an_op = dict(zip(numbers, range(len(numbers)), strict=True))
        return {n for n, op in an_op.items() if SHARDING_RULE in self._graph.attributes(op)}

    def _classify(self) -> None:
        graph, of_value = self._graph, self._of_value
        attributes, with_own_rule = graph.structure.attributes, self._with_own_rule
        other_tensors = {value for value, tensor in enumerate(of_value) if tensor != value}
        families = {name: _Family(name) for name in set(graph.names)}
        for op, name in enumerate(graph.names):
            family = families[name]
            if with_own_rule and attributes[op] in with_own_rule:
                self.with_own_rule.append(op)
                number = self._class_by_key(op, name, _OWN_RULE)
            elif family.entry is not None:
                number = self._class_in_family(op, family, family.entry)
            elif family.is_edge:
                self._classify_edge(op, name)
                continue
            elif name == BARRIER:
                number = self._barrier_class(op)
            else:
                continue
            if number != NO_CLASS:
                self.of_op[op] = number
                values = graph.operands[op] + graph.results[op]
                if not other_tensors.isdisjoint(values):
                    values = tuple([of_value[value] for value in values])
                self.tensors[op] = values

    def registered(self) -> list[tuple[int, int]]:
        """Return the ops that a rule is registered for, each with its class."""
        names = self._graph.names
        with_rule = {name for name in set(names) if name in RULES}
        return [
            (op, number)
            for op, number in enumerate(self.of_op)
            if number != NO_CLASS and names[op] in with_rule
        ]

    def _class_in_family(self, op: int, family: _Family, entry: RuleEntry) -> int:
        """Return the class of an op, made where no op like it came before.

        Ops of a name, with equal types and properties, are alike, but for those whose rule
        depends on more.
        """
        if entry.beyond is not None:
            return self._class_by_key(op, family.name, entry)
        graph = self._graph
        kinds = graph.kinds
        like = [kinds[value] for value in graph.operands[op]]
        like.append(NOTHING)
        like += [kinds[value] for value in graph.results[op]]
        if family.reads_properties:
            like.append(graph.structure.properties[op])
        key = tuple(like)
        known = family.classes.get(key)
        if known is None:
            known = family.classes[key] = self._class_by_key(op, family.name, entry)
        return known

    def _class_by_key(self, op: int, name: str, entry: RuleEntry) -> int:
        """Return the class of an op, made where no other has what its rule reads.

        Properties that it does not read may differ, and so may the elements of tensors, for
        elementwise ops.
        """
        graph, handle = self._graph, self._graph.ops[op]
        types = [graph.type_of(value) for value in graph.operands[op] + graph.results[op]]
        if is_elementwise(name) and entry is not _OWN_RULE:
            key: Hashable = (tuple([shape(kind) for kind in types]), len(graph.operands[op]))
        else:
            attributes = handle.attributes
            read = tuple([attributes.get(attribute) for attribute in entry.reads])
            beyond = None if entry.beyond is None else entry.beyond(handle)
            key = (name, tuple(types), len(graph.operands[op]), read, beyond)
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key[key] = self._make_class(handle, name, entry)
        return known

    def _make_class(self, op: ir.Operation, name: str, entry: RuleEntry) -> int:
        rule = entry.build(op, self._conservative)
        if rule is None:
            return NO_CLASS
        elementwise = is_elementwise_op(op)
        return self._number(
            OpClass(rule, _flow(op, name, elementwise), elementwise, self._conservative)
        )

    def _number(self, op_class: OpClass) -> int:
        number = self._numbers.setdefault(op_class, len(self.classes))
        if number == len(self.classes):
            self.classes.append(op_class)
        return number

    def identity(self, kind: ir.Type, operand_count: int = 1, flow: Flow = Flow.OTHER) -> int:
        """Return the class of a step that makes tensors of one type agree; none has no class."""
        key = (kind, operand_count, flow)
        known = self._by_key.get(key)
        if known is None:
            known = NO_CLASS
            if isinstance(kind, ir.ShapedType) and kind.has_rank:
                rule = identity_rule(kind.shape, operand_count)
                known = self._number(OpClass(rule, flow, is_elementwise=False, conservative=False))
            self._by_key[key] = known
        return known

    def _barrier_class(self, op: int) -> int:
        (result,) = self._graph.results[op]
        kind = self._graph.type_of(result)
        direction = ir.IntegerAttr(self._graph.ops[op].attributes["allowed_direction"]).value
        return self._number(
            OpClass(
                identity_rule(kind.shape),
                _BARRIER_FLOWS[direction],
                is_elementwise=True,
                conservative=False,
            )
        )

    def _classify_edge(self, op: int, name: str) -> None:
        graph = self._graph
        if name == FUNC_EDGE:
            sources = self._func_edge_sources(op)
        else:
            sources = edge_sources(graph, graph.operands[op][0])
        (result,) = graph.results[op]
        number = NO_CLASS
        if sources:
            number = self.identity(graph.type_of(result), len(sources), Flow.PASS_THROUGH)
        if number == NO_CLASS:
            return
        self.of_op[op] = number
        self.tensors[op] = tuple([self._of_value[value] for value in (*sources, result)])
        owner = graph.operands[op][0]
        computation = graph.owner(owner)
        if graph.names[computation] == data_flow.MANUAL_COMPUTATION:
            self.transforms[op] = self._manual_transform(computation, owner)

    def _func_edge_sources(self, op: int) -> list[int]:
        """Return what flows into a function's argument, or out of a call's result."""
        graph = self._graph
        owner = graph.operands[op][0]
        index = graph.position(owner)
        place = graph.owner(owner)
        if graph.names[place] == FUNCTION and graph.producers[owner] == NOTHING:
            return [graph.operands[call][index] for call in self._calls.calls_to(place)]
        if graph.names[place] != CALL:
            raise op_error(graph.ops[op], _FUNC_EDGE_MISPLACED)
        callee = self._calls.callee(place)
        ends = [end for _, _, end in graph.structure.bodies.get(callee, [])]
        return [graph.operands[end][index] for end in ends]

    def _manual_transform(self, computation: int, owner: int) -> Transform:
        """Return how the sharding on a manual computation's edge is seen, and how it is kept.

        The edge of a block argument keeps the body's view and is joined to an operand outside;
        that of a result keeps the outer view and is joined to what the body returns.
        """
        graph = self._graph
        handle = graph.ops[computation]
        names = manual_axes(handle)
        is_argument = graph.producers[owner] == NOTHING
        attribute = "in_shardings" if is_argument else "out_shardings"
        outer = self._codec.shardings(handle.attributes[attribute])[graph.position(owner)]

        def to_outer(sharding: TensorSharding) -> TensorSharding:
            return add_free_axes(outer, sharding, names)

        def to_inner(sharding: TensorSharding) -> TensorSharding:
            return erase_manual_axes(sharding, names)

        return (to_outer, to_inner) if is_argument else (to_inner, to_outer)


def _flow(op: ir.Operation, name: str, elementwise: bool) -> Flow:
    if elementwise or name in _PASS_THROUGH:
        return Flow.PASS_THROUGH
    if name in _DYNAMIC_SLICES:
        return Flow.DYNAMIC_SLICE
    if name == "stablehlo.broadcast_in_dim":
        return Flow.BROADCAST
    if name == "stablehlo.custom_call":
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        return Flow.PASS_THROUGH if target in _OFFLOAD_TARGETS else Flow.OTHER
    return Flow.OTHER
