"""Which step each op takes: its class, and the tensors that the step makes agree.

Ops whose rules have equal keys share one rule, and with it one class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir
from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.dialect.manual_axes import add_free_axes, erase_manual_axes
from sdy.ir import data_flow
from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import BARRIER, CALL, FUNC_EDGE, FUNCTION
from sdy.ir.op_traits import is_elementwise, is_elementwise_op
from sdy.ir.rows import Rows, filled
from sdy.ir.sharding_access import manual_axes
from sdy.ir.structure import NOTHING
from sdy.ir.types import shape
from sdy.passes.propagation.data_flow import edge_sources
from sdy.passes.propagation.op_priorities import Flow
from sdy.passes.propagation.rules.builder import identity_rule
from sdy.passes.propagation.rules.registration import RuleEntry
from sdy.passes.propagation.rules.registry import RULES
from sdy.passes.propagation.sequences import Sequences
from sdy.passes.propagation.step_case import OpClass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.data_flow import Calls
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.tensors import Tensors

__all__ = ["NO_CLASS", "OpClasses", "Transform"]

NO_CLASS: Final = -1

_PASS_THROUGH = frozenset({"stablehlo.reshape", "stablehlo.transpose"})
_DYNAMIC_SLICES = frozenset({"stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"})
_BITCAST = "stablehlo.bitcast_convert"
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
      takes_step: whether any of them takes a step.

    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.entry = RULES.get(name)
        self.reads_properties = self.entry is not None and bool(self.entry.reads)
        self.is_edge = name in (data_flow.DATA_FLOW_EDGE, FUNC_EDGE)
        self.takes_step = self.entry is not None or self.is_edge or name == BARRIER


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
        self.of_op = filled(NO_CLASS, len(graph.ops))
        self.tensors = Rows(vec[i64]([0]), vec[i64]())
        self.transforms: dict[int, Transform] = {}
        self.with_own_rule: list[int] = []
        self._graph = graph
        self._of_value = tensors.of_value
        self._codec = codec
        self._calls = calls
        self._conservative = conservative
        self._numbers: dict[OpClass, int] = {}
        self._by_key: dict[Hashable, int] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}
        self._likes_by_operands, self._likes = Sequences(), Sequences()
        self._classes_of_likes = vec[i64]()
        self._classify()

    def _classify(self) -> None:
        graph = self._graph
        attributes, names = graph.structure.attributes, graph.name_numbers
        with_own_rule = graph.attributes_with(SHARDING_RULE)
        families = [_Family(name) for name in graph.distinct_names]
        for op in range(i64(len(names))):
            family = families[names[op]]
            number: i64 = NO_CLASS
            if with_own_rule and attributes[op] in with_own_rule:
                self.with_own_rule.append(op)
                number = self._class_by_key(op, family.name, _OWN_RULE)
                self._add_tensors(op, number)
            elif not family.takes_step:
                self._end_tensors()
            elif family.entry is not None:
                number = self._class_in_family(op, names[op], family, family.entry)
                self._add_tensors(op, number)
            elif family.is_edge:
                number = self._classify_edge(op, family.name)
            else:
                number = self._barrier_class(op)
                self._add_tensors(op, number)
            self.of_op[op] = number

    def _add_tensors(self, op: i64, op_class: i64) -> None:
        """Note which tensors the step of an op makes agree: none where it takes no step."""
        if op_class != NO_CLASS:
            rows, of_value = self.tensors, self._of_value
            graph = self._graph
            starts, items = graph.operands.starts, graph.operands.items
            for place in range(starts[op], starts[op + 1]):
                rows.items = append(rows.items, of_value[items[place]])
            starts, items = graph.results.starts, graph.results.items
            for place in range(starts[op], starts[op + 1]):
                rows.items = append(rows.items, of_value[items[place]])
        self._end_tensors()

    def _end_tensors(self) -> None:
        rows = self.tensors
        rows.starts = append(rows.starts, len(rows.items))

    def registered(self) -> list[tuple[int, int]]:
        """Return the ops that a rule is registered for, each with its class."""
        names = self._graph.names
        with_rule = {name for name in set(names) if name in RULES}
        return [
            (op, int(number))
            for op, number in enumerate(self.of_op)
            if number != NO_CLASS and names[op] in with_rule
        ]

    def _class_in_family(self, op: i64, name_number: i64, family: _Family, entry: RuleEntry) -> i64:
        """Return the class of an op, made where no op like it came before.

        Ops of a name, with equal types and properties, are alike, but for those whose rule
        depends on more.
        """
        if entry.beyond is not None:
            return self._class_by_key(op, family.name, entry)
        graph = self._graph
        kinds, head = graph.kinds, name_number
        if family.reads_properties:
            property_number = graph.structure.properties[op] - NOTHING
            head += property_number * len(graph.distinct_names)
        head = self._likes_by_operands.number(head, graph.operands, op, kinds)
        like = self._likes.number(head, graph.results, op, kinds)
        if like == len(self._classes_of_likes):
            number = self._class_by_key(op, family.name, entry)
            self._classes_of_likes = append(self._classes_of_likes, number)
        return self._classes_of_likes[like]

    def _class_by_key(self, op: int, name: str, entry: RuleEntry) -> int:
        """Return the class of an op, made where no other has what its rule reads.

        Properties that it does not read may differ, and so may the elements of tensors, for
        elementwise ops.
        """
        graph, handle = self._graph, self._graph.ops[op]
        operands = graph.operands[op]
        kinds = [int(graph.kinds[value]) for value in operands + graph.results[op]]
        if is_elementwise(name) and entry is not _OWN_RULE:
            key: Hashable = (tuple([self._shape(kind) for kind in kinds]), len(operands))
        else:
            attributes = handle.attributes
            read = tuple([attributes.get(attribute) for attribute in entry.reads])
            beyond = None if entry.beyond is None else entry.beyond(handle)
            key = (name, tuple(kinds), len(operands), read, beyond)
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key[key] = self._make_class(handle, name, entry)
        return known

    def _shape(self, kind: int) -> tuple[int, ...]:
        known = self._shapes.get(kind)
        if known is None:
            known = self._shapes[kind] = shape(self._graph.type_of_kind[kind])
        return known

    def _make_class(self, op: ir.Operation, name: str, entry: RuleEntry) -> int:
        rule = entry.build(op, self._conservative)
        if rule is None:
            return NO_CLASS
        elementwise = is_elementwise_op(op) if name == _BITCAST else is_elementwise(name)
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

    def _classify_edge(self, op: int, name: str) -> int:
        """Return the class of a data-flow edge, and note its tensors."""
        graph = self._graph
        if name == FUNC_EDGE:
            sources = self._func_edge_sources(op)
        else:
            sources = edge_sources(graph, graph.operands[op][0])
        (result,) = graph.results[op]
        number = NO_CLASS
        if sources:
            number = self.identity(graph.type_of(result), len(sources), Flow.PASS_THROUGH)
        if number != NO_CLASS:
            rows = self.tensors
            for value in (*sources, result):
                rows.items = append(rows.items, self._of_value[value])
            owner = graph.operands[op][0]
            computation = graph.owner(owner)
            if graph.names[computation] == data_flow.MANUAL_COMPUTATION:
                self.transforms[op] = self._manual_transform(computation, owner)
        self._end_tensors()
        return number

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
