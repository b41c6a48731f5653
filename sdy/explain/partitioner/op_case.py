"""What the partitioner does about one op, from its rule and the shardings of its tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.explain.partitioner.detail import NO_DETAIL, Detail
from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.reshards import reshard
from sdy.explain.partitioner.tiling import tiling_of
from sdy.passes.propagation.projection import FactorSharding, TensorFactors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = [
    "Axes",
    "OpCase",
    "OpExchange",
    "Role",
    "Tensor",
    "carry_out",
    "factors_of",
    "local_bytes",
    "reshard_tensor",
    "sent_bytes",
    "sharding_by_factors",
]

Axes: TypeAlias = "tuple[AxisRef, ...]"
Role: TypeAlias = Literal["operand", "copy", "sum", "halo", "result", "explicit"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """The type of a tensor, and how it is sharded.

    Attributes:
      shape: of the whole tensor.
      itemsize: the bytes of an element, rounded up.
      sharding: bound to its mesh.

    """

    shape: tuple[int, ...]
    itemsize: int
    sharding: TensorSharding


@dataclass(frozen=True, slots=True, eq=False)
class OpCase:
    """All that the exchanges of an op depend on.

    Attributes:
      name: of the op.
      rule: its sharding rule; None where it has none.
      mesh: of its shardings.
      operands: the tensors that it takes.
      results: the tensors that it gives.
      detail: what else decides, such as the bounds of a slice.
      manual: the axes on which the op is local already.

    """

    name: str
    rule: OpShardingRule | None
    mesh: Mesh
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    detail: Detail = NO_DETAIL
    manual: tuple[str, ...] = ()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The operands, then the results."""
        return self.operands + self.results


@dataclass(frozen=True, slots=True)
class OpExchange:
    """One point of communication of an op.

    Attributes:
      role: an operand or a result is resharded, so is a copy of an operand that no other op can
        use, parts of a result are summed up, an operand gets a halo from neighbours, or the
        program says itself what is exchanged.
      index: which operand or result.
      from_: the sharding before; of a sum, what the parts are sharded like.
      to: the sharding after.
      exchanges: the collectives in order; none where slicing is enough.
      is_full_rematerialization: whether XLA warns that it gathers the whole tensor.

    """

    role: Role
    index: int
    from_: TensorSharding
    to: TensorSharding
    exchanges: tuple[Exchange, ...]
    is_full_rematerialization: bool = False


def factors_of(case: OpCase, rule: OpShardingRule, index: int) -> TensorFactors:
    """Return the factor shardings of a tensor, operands first."""
    tensor = case.tensors[index]
    return TensorFactors.project(
        tensor.sharding, rule.tensors[index], rule.factor_sizes, case.mesh, closed_if_missing=True
    )


def sharding_by_factors(
    case: OpCase, rule: OpShardingRule, index: int, axes: Sequence[Axes]
) -> TensorSharding:
    """Return how a tensor, operands first, is sharded if its factors are sharded by `axes`."""
    mapping = rule.tensors[index]
    factors = {
        factor: FactorSharding(axes[factor], is_closed=True)
        for dimension in mapping.dimensions
        for factor in dimension.factors
    }
    tensor = TensorFactors(factors)
    return tensor.to_sharding(mapping, rule.factor_sizes, case.mesh)


def carry_out(
    case: OpCase,
    rule: OpShardingRule,
    axes: Sequence[Axes],
    *,
    by_dimension: bool = False,
    in_groups: bool = False,
) -> tuple[OpExchange, ...]:
    """Return what it takes to run the op with its factors sharded by `axes`.

    Operands are resharded, the op runs on each device, what reduction factors leave in parts is
    summed up, and results are resharded.

    Args:
      case: the op.
      rule: its rule.
      axes: for each factor.
      by_dimension: whether parts are summed up along one dimension after the other.
      in_groups: whether operands may be sliced first; see `reshard_operands`.

    """
    found = reshard_operands(case, rule, axes, in_groups=in_groups)
    by_factor = [axes[factor] for factor in rule.reduction]
    summed = by_factor if by_dimension else [tuple(chain.from_iterable(by_factor))]
    count = len(case.operands)
    for index, tensor in enumerate(case.results):
        computed = sharding_by_factors(case, rule, count + index, axes)
        found += [sum_up(index, tensor, computed, axes_) for axes_ in summed if axes_]
        found += reshard_tensor("result", index, tensor, computed, tensor.sharding)
    return tuple(found)


def reshard_operands(
    case: OpCase, rule: OpShardingRule, axes: Sequence[Axes], *, in_groups: bool = False
) -> list[OpExchange]:
    """Return the reshards of the operands to what `axes` make of them.

    Args:
      case: the op.
      rule: its rule.
      axes: for each factor.
      in_groups: whether an operand may be sliced first, and the rest be done in the groups of
        devices that this makes.

    """
    found: list[OpExchange] = []
    for index, tensor in enumerate(case.operands):
        wanted = sharding_by_factors(case, rule, index, axes)
        direct = reshard_tensor("operand", index, tensor, tensor.sharding, wanted)
        between = _sliced(tensor.sharding, wanted) if in_groups else tensor.sharding
        if between not in (tensor.sharding, wanted):
            rest = reshard_tensor("operand", index, tensor, between, wanted)
            if rest and sent_bytes(rest) < sent_bytes(direct):
                direct = [replace(rest[0], from_=tensor.sharding)]
        found += direct
    return found


def _sliced(sharding: TensorSharding, target: TensorSharding) -> TensorSharding:
    """Return a sharding split further as the target is, where that takes slicing alone."""
    dimensions = list(sharding.dimensions)
    held = tuple(sharding.axes())
    for dim, (now, then) in enumerate(zip(sharding.dimensions, target.dimensions, strict=True)):
        added = then.axes[len(now.axes) :]
        is_free = not any(a.overlaps(b) for a in added for b in held)
        if then.axes[: len(now.axes)] == now.axes and is_free:
            dimensions[dim] = DimensionSharding(then.axes)
    return replace(sharding, dimensions=tuple(dimensions))


def reshard_tensor(
    role: Role, index: int, tensor: Tensor, from_: TensorSharding, to: TensorSharding
) -> list[OpExchange]:
    """Return the reshard of a tensor, if there is one; it may move nothing.

    From one set of devices to another there is none: XLA has one set for a program.
    """
    if from_ is to:
        return []
    before, after = tiling_of(from_), tiling_of(to)
    is_on_one_mesh = from_.mesh == to.mesh
    if before == after or not (is_on_one_mesh or set(before.devices) == set(after.devices)):
        return []
    found = reshard(before, after, tensor.shape, tensor.itemsize)
    return [OpExchange(role, index, from_, to, found.exchanges, found.is_full_rematerialization)]


def sum_up(index: int, tensor: Tensor, sharding: TensorSharding, axes: Axes) -> OpExchange:
    """Return the all-reduce of a result of which the devices along `axes` have parts."""
    bytes_ = local_bytes(tensor, sharding)
    along = TensorSharding(sharding.mesh, (DimensionSharding(axes),))
    groups = tiling_of(along).groups([0])
    exchange = Exchange("all-reduce", bytes_, groups)
    return OpExchange("sum", index, replace(sharding, unreduced=axes), sharding, (exchange,))


def local_bytes(tensor: Tensor, sharding: TensorSharding) -> int:
    """Return the bytes of the largest shard."""
    return math.prod(tiling_of(sharding).local_shape(tensor.shape)) * tensor.itemsize


def sent_bytes(found: Iterable[OpExchange]) -> int:
    """Return how many bytes a device sends in all of them."""
    return sum(exchange.sent for one in found for exchange in one.exchanges)
