"""Which step each op takes: its class, and the tensors that the step makes agree.

Ops whose rules have equal keys share one rule, and with it one class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import add_free_axes, erase_manual_axes
from sdy.ir import data_flow
from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.ir.op_names import BARRIER, FUNC_EDGE
from sdy.ir.op_traits import is_elementwise_op
from sdy.ir.sharding_access import manual_axes
from sdy.passes.propagation.op_priorities import Flow
from sdy.passes.propagation.rules.builder import identity_rule
from sdy.passes.propagation.rules.registry import RULES
from sdy.passes.propagation.step import OpClass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.calls import Calls
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

Transform = tuple[
    "Callable[[TensorSharding], TensorSharding]", "Callable[[TensorSharding], TensorSharding]"
]


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
        self._type_numbers: dict[ir.Type, int] = {}
        self._types = [
            self._type_numbers.setdefault(kind, len(self._type_numbers)) for kind in graph.types
        ]
        self._classify()

    def _classify(self) -> None:
        graph, of_value, by_key = self._graph, self._of_value, self._by_key
        for op, (name, operands, results) in enumerate(
            zip(graph.names, graph.operands, graph.results, strict=True)
        ):
            if name in RULES or SHARDING_RULE in graph.attributes[op]:
                key = self._key(op, name, operands, results)
                number = by_key.get(key)
                if number is None:
                    number = by_key[key] = self._make_class(graph.ops[op], name)
            elif name == BARRIER:
                number = self._barrier_class(op)
            else:
                if name == data_flow.DATA_FLOW_EDGE:
                    self._classify_edge(op, data_flow.edge_sources(graph.values[operands[0]]))
                elif name == FUNC_EDGE:
                    self._classify_edge(op, self._func_edge_sources(op))
                continue
            if number != NO_CLASS:
                self.of_op[op] = number
                self.tensors[op] = tuple([of_value[value] for value in operands + results])

    def registered(self) -> Iterator[tuple[int, OpShardingRule]]:
        """Yield the ops that a rule is registered for, each with its rule."""
        for op, number in enumerate(self.of_op):
            if number != NO_CLASS and self._graph.names[op] in RULES:
                yield op, self.classes[number].rule

    def _key(
        self, op: int, name: str, operands: tuple[int, ...], results: tuple[int, ...]
    ) -> Hashable:
        """Return what the class of an op depends on: its name, its types, what its rule reads."""
        types, attributes = self._types, self._graph.attributes[op]
        key = (
            name,
            tuple([types[value] for value in operands]),
            tuple([types[value] for value in results]),
        )
        if SHARDING_RULE in attributes:
            self.with_own_rule.append(op)
            return (*key, attributes[SHARDING_RULE])
        entry = RULES[name]
        if not entry.reads and entry.beyond is None:
            return key
        read = tuple([attributes.get(attribute) for attribute in entry.reads])
        return (*key, read, entry.beyond and entry.beyond(self._graph.ops[op]))

    def _make_class(self, op: ir.Operation, name: str) -> int:
        if SHARDING_RULE in op.attributes:
            rule: OpShardingRule | None = read_rule(op.attributes[SHARDING_RULE])
        else:
            rule = RULES[name].build(op, self._conservative)
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
            if isinstance(kind, ir.ShapedType):
                rule = identity_rule(kind.shape, operand_count)
                known = self._number(OpClass(rule, flow, is_elementwise=False, conservative=False))
            self._by_key[key] = known
        return known

    def _barrier_class(self, op: int) -> int:
        (result,) = self._graph.results[op]
        kind = self._graph.types[result]
        direction = ir.IntegerAttr(self._graph.ops[op].attributes["allowed_direction"]).value
        return self._number(
            OpClass(
                identity_rule(kind.shape),
                _BARRIER_FLOWS[direction],
                is_elementwise=True,
                conservative=False,
            )
        )

    def _classify_edge(self, op: int, sources: list[ir.Value]) -> None:
        graph = self._graph
        (result,) = graph.results[op]
        number = NO_CLASS
        if sources:
            number = self.identity(graph.types[result], len(sources), Flow.PASS_THROUGH)
        if number == NO_CLASS:
            return
        self.of_op[op] = number
        tensors = [self._of_value[graph.value_id(source)] for source in sources]
        self.tensors[op] = (*tensors, self._of_value[result])
        owner = graph.values[graph.operands[op][0]]
        computation = data_flow.owning_op(owner)
        if computation.name == data_flow.MANUAL_COMPUTATION:
            self.transforms[op] = _manual_transform(computation, owner, self._codec)

    def _func_edge_sources(self, op: int) -> list[ir.Value]:
        """Return what flows into a function's argument, or out of a call's result."""
        graph = self._graph
        owner = graph.values[graph.operands[op][0]]
        if isinstance(owner, ir.BlockArgument):
            function = data_flow.owning_op(owner)
            return [call.operands[owner.arg_number] for call in self._calls.calls_to(function)]
        body = self._calls.callee(owner.owner.operation).regions[0]
        if not len(body.blocks):
            return []
        terminator = data_flow.region_terminator(body)
        return [terminator.operands[ir.OpResult(owner).result_number]]


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


def _manual_transform(
    computation: ir.Operation, owner: ir.Value, codec: AttributeCodec
) -> Transform:
    """Return how the sharding on a manual computation's edge is seen, and how it is kept.

    The edge of a block argument keeps the body's view and is joined to an operand outside; that
    of a result keeps the outer view and is joined to what the body returns.
    """
    names = manual_axes(computation)
    is_argument = isinstance(owner, ir.BlockArgument)
    attribute = "in_shardings" if is_argument else "out_shardings"
    index = owner.arg_number if is_argument else ir.OpResult(owner).result_number
    outer = codec.shardings(computation.attributes[attribute])[index]

    def to_outer(sharding: TensorSharding) -> TensorSharding:
        return add_free_axes(outer, sharding, names)

    def to_inner(sharding: TensorSharding) -> TensorSharding:
        return erase_manual_axes(sharding, names)

    return (to_outer, to_inner) if is_argument else (to_inner, to_outer)
