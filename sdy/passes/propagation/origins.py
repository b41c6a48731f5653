"""Origins: for every axis that a value is sharded by, whose annotation it goes back to.

Annotations are the shardings that a program has, before propagation, on arguments and results
of functions, on sharding constraints, and on manual computations. The idea is Shardy's
`debug-sharding-origins`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.data_flow import MANUAL_COMPUTATION, region_terminator
from sdy.ir.function_shardings import result_shardings
from sdy.ir.op_names import CONSTRAINT, FUNCTION
from sdy.ir.sharding_access import shardable_value
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.axis_flows import AxisFlow

__all__ = ["CONSTRAINT", "Origin", "OriginKind", "Origins", "annotated_ops", "initial_origins"]


class OriginKind(Enum):
    """What carries an annotation."""

    INPUT = auto()
    OUTPUT = auto()
    CONSTRAINT = auto()
    MANUAL_INPUT = auto()
    MANUAL_OUTPUT = auto()


@dataclass(frozen=True, slots=True)
class Origin:
    """One annotation. It prints as the debug attributes name it.

    Attributes:
      kind: what carries it.
      index: which argument or result.
      op: which of the constraints, or which of the manual computations; 0 for a function.

    """

    kind: OriginKind
    index: int = 0
    op: int = 0

    def __str__(self) -> str:
        match self.kind:
            case OriginKind.INPUT:
                return f"input: {self.index}"
            case OriginKind.OUTPUT:
                return f"output: {self.index}"
            case OriginKind.CONSTRAINT:
                return f"constraint_{self.op}"
            case OriginKind.MANUAL_INPUT:
                return f"mc_{self.op}_input: {self.index}"
            case OriginKind.MANUAL_OUTPUT:
                return f"mc_{self.op}_output: {self.index}"


class Origins:
    """The origins of the axes of all values.

    An axis that the program has on an op without being an annotation has none, nor has what
    spreads from it.

    Attributes:
      of_value: for each value that a sharding can be on, its axes with their origins.
      own: the origin that a value is itself.
      groups: for a value in a sharding group, the values of that group.

    """

    def __init__(self) -> None:
        self.of_value: dict[ir.Value, dict[AxisRef, Origin]] = {}
        self.own: dict[ir.Value, Origin] = {}
        self.groups: Mapping[ir.Value, Sequence[ir.Value]] = {}

    def annotate(self, value: ir.Value, sharding: TensorSharding | None, origin: Origin) -> None:
        """Let the axes of a sharding on `value` that have no origin yet have this one."""
        place = shardable_value(value)
        if place is None or sharding is None:
            return
        for dimension in sharding.dimensions:
            for axis in dimension.axes:
                self._add(place, axis, origin)

    def follow(self, flows: Iterable[AxisFlow], values: Sequence[ir.Value | None]) -> None:
        """Let axes keep their origin where they go.

        Args:
          flows: what moves; an axis that is there already keeps the origin that it has.
          values: the values of the flows' positions; None for what can have no sharding.

        """
        for flow in flows:
            source, target = values[flow.source], values[flow.target]
            origin = None if source is None else self.find(source, flow.axis)
            if target is not None and origin is not None:
                self._add(target, flow.axis, origin)

    def find(self, value: ir.Value, axis: AxisRef) -> Origin | None:
        """Return the origin of an axis of a value; None where it has none.

        Parts of an axis have the origin of the whole, and the other way round. A value that has
        an axis from its sharding group has it from the member that knows.
        """
        for member in (value, *self.groups.get(value, ())):
            known = self.of_value.get(member, {})
            if axis in known:
                return known[axis]
            for other, origin in known.items():
                if other.contains(axis) or axis.contains(other):
                    return origin
        return None

    def _add(self, value: ir.Value, axis: AxisRef, origin: Origin) -> None:
        self.of_value.setdefault(value, {}).setdefault(axis, origin)


def annotated_ops(module: IndexedModule) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """Return the sharding constraints and the manual computations, in the order of their numbers.

    A manual computation comes after those in its body. They are to be read: who changes one lets
    the module forget its structure.
    """
    computations = module.ops(MANUAL_COMPUTATION)
    if computations:
        ops = module.walk(ir.WalkOrder.POST_ORDER)
        computations = [op for op in ops if op.name == MANUAL_COMPUTATION]
    return module.read_ops(CONSTRAINT), computations


def initial_origins(module: IndexedModule) -> Origins:
    """Return the origins in a module whose shardings have not spread yet.

    What a constraint or a manual computation takes belongs to it, if it is sharded. Where an
    axis of one value has several annotations, constraints come first, functions last.
    """
    origins = Origins()
    constraints, computations = annotated_ops(module)
    for number, op in enumerate(constraints):
        _annotate_constraint(origins, op, number, module)
    for number, op in enumerate(computations):
        _annotate_manual_computation(origins, op, number, module)
    for function in module.read_ops(FUNCTION):
        _annotate_function(origins, function, module)
    return origins


def _annotate_constraint(
    origins: Origins, op: ir.Operation, number: int, module: IndexedModule
) -> None:
    origin = Origin(OriginKind.CONSTRAINT, op=number)
    origins.own[op.result] = origin
    for value in (op.result, op.operands[0]):
        origins.annotate(value, sharding_of(value, module.codec), origin)


def _annotate_manual_computation(
    origins: Origins, op: ir.Operation, number: int, module: IndexedModule
) -> None:
    codec = module.codec
    ins = codec.shardings(op.attributes["in_shardings"])
    outs = codec.shardings(op.attributes["out_shardings"])
    arguments = op.regions[0].blocks[0].arguments
    for index, (argument, sharding) in enumerate(zip(arguments, ins, strict=True)):
        origin = Origin(OriginKind.MANUAL_INPUT, index, number)
        _annotate_own(origins, argument, sharding, origin)
        operand = op.operands[index]
        origins.annotate(operand, sharding_of(operand, codec), origin)
    for index, (result, sharding) in enumerate(zip(op.results, outs, strict=True)):
        _annotate_own(origins, result, sharding, Origin(OriginKind.MANUAL_OUTPUT, index, number))


def _annotate_function(origins: Origins, function: ir.Operation, module: IndexedModule) -> None:
    if not function.regions[0].blocks:
        return
    for index, argument in enumerate(function.regions[0].blocks[0].arguments):
        sharding = sharding_of(argument, module.codec)
        _annotate_own(origins, argument, sharding, Origin(OriginKind.INPUT, index))
    returned = region_terminator(function.regions[0]).operands
    shardings = result_shardings(function, module.codec)
    if shardings is not None:
        for index, (value, sharding) in enumerate(zip(returned, shardings, strict=True)):
            origins.annotate(value, sharding, Origin(OriginKind.OUTPUT, index))


def _annotate_own(
    origins: Origins, value: ir.Value, sharding: TensorSharding | None, origin: Origin
) -> None:
    place = shardable_value(value)
    if place is not None:
        origins.own[place] = origin
    origins.annotate(value, sharding, origin)
