"""What is inserted around one op, decided from its rule and the shardings of its tensors alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_without
from sdy.dialect.errors import Error
from sdy.dialect.sharding import TensorSharding
from sdy.passes.export_pipeline.explicit_reshards.common_axes import (
    common_axes,
    common_axes_of_factor,
    set_axes,
)
from sdy.passes.export_pipeline.explicit_reshards.dot import reshard_dot_result
from sdy.passes.export_pipeline.explicit_reshards.op_mesh import mesh_of_op
from sdy.passes.export_pipeline.explicit_reshards.reshape import agree_on_reshape
from sdy.passes.export_pipeline.explicit_reshards.steps import AllReduce
from sdy.passes.export_pipeline.explicit_reshards.use_steps import (
    is_equivalent,
    sorted_axes,
    unreduced_axes,
)
from sdy.passes.propagation.projection import Projection, TensorFactors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.export_pipeline.explicit_reshards.common_axes import AxesPerFactor

__all__ = ["OpCase", "OpKind", "OpPlan", "ResultReshard", "kind_of", "plan_op"]

Shardings = tuple[TensorSharding | None, ...]


class OpKind(Enum):
    """The ops that are treated in a way of their own."""

    DOT = "dot"
    RESHAPE = "reshape"
    OTHER = "other"


_KINDS = {
    "stablehlo.dot": OpKind.DOT,
    "stablehlo.dot_general": OpKind.DOT,
    "stablehlo.reshape": OpKind.RESHAPE,
}


def kind_of(name: str) -> OpKind:
    """Return what kind of op one of that name is."""
    return _KINDS.get(name, OpKind.OTHER)


@dataclass(frozen=True, slots=True, eq=False)
class OpCase:
    """All that the plan for an op depends on.

    Attributes:
      kind: what kind of op it is.
      may_reshard: whether all conflicts are to be resolved, not just what must be.
      rule: the op's sharding rule; None where there is none or a user wrote it.
      sizes: how many elements each operand, then each result, has; 0 where that is not known.
      operands: the shardings of the operands.
      sources: those of what the operands are behind propagation barriers.
      results: the shardings of the results.

    """

    kind: OpKind
    may_reshard: bool
    rule: OpShardingRule | None
    sizes: tuple[int, ...]
    operands: Shardings
    sources: Shardings
    results: Shardings


@dataclass(frozen=True, slots=True)
class ResultReshard:
    """A result that gets another sharding, and a reshard back to what it had.

    Attributes:
      index: which result.
      sharding: the one that the op gives it now.
      wanted: that of the reshard.

    """

    index: int
    sharding: TensorSharding
    wanted: TensorSharding


@dataclass(frozen=True, slots=True)
class OpPlan:
    """What is inserted around an op; nothing by default.

    Attributes:
      operands: by operand index, the sharding to which the operand is resharded.
      results: the reshards of results.
      summed: by result index, the all-reduces that sum results up; before their reshards.

    """

    operands: tuple[tuple[int, TensorSharding], ...] = ()
    results: tuple[ResultReshard, ...] = ()
    summed: tuple[tuple[int, AllReduce], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is inserted."""
        return not (self.operands or self.results or self.summed)


def plan_op(case: OpCase) -> OpPlan:
    """Return the plan for an op.

    Raises:
      Error: where unreduced axes of a result do not go with the op.

    """
    if case.rule is None:
        return OpPlan()
    mesh = mesh_of_op(case.sources + case.results)
    return OpPlan() if mesh is None else _Planner(case, case.rule, mesh).plan()


class _Planner:
    """Plans the reshards of one op that has a rule, on a mesh."""

    def __init__(self, case: OpCase, rule: OpShardingRule, mesh: Mesh) -> None:
        self._case = case
        self._rule = rule
        self._mesh = mesh
        shardings = case.sources + case.results
        tensors = [
            TensorFactors.project(
                sharding, mapping, rule.factor_sizes, mesh, closed_if_missing=True
            )
            for sharding, mapping in zip(shardings, rule.tensors, strict=True)
        ]
        count = len(case.sources)
        self._projection = Projection(tensors[:count], tensors[count:])

    def plan(self) -> OpPlan:
        """Return the plan."""
        if not self._case.may_reshard:
            return self._minimal_plan()
        tensors = list(self._projection.tensors())
        changed = [any(f.overflow for f in tensor.factors.values()) for tensor in tensors]
        if self._case.kind is OpKind.RESHAPE and any(changed):
            return self._plan_of_overflowing_reshape()
        axes = common_axes(self._projection, self._rule, self._case.sizes, self._mesh)
        for factor, factor_axes in enumerate(axes):
            for index, tensor in enumerate(tensors):
                changed[index] |= set_axes(tensor, factor, factor_axes)
        return self._plan(axes, changed, self._case.sources)

    def _plan_of_overflowing_reshape(self) -> OpPlan:
        axes = agree_on_reshape(self._projection, self._rule, self._mesh)
        # Here the operand's own sharding counts, be it a barrier or not.
        old = self._case.operands + self._case.results
        changed = [
            not is_equivalent(sharding, self._sharding(index)) for index, sharding in enumerate(old)
        ]
        return self._plan(axes, changed, self._case.operands)

    def _plan(self, axes: AxesPerFactor, changed: Sequence[bool], operands: Shardings) -> OpPlan:
        """Return the plan, given which of the tensors, operands first, are to be sharded anew."""
        count = len(operands)
        results = self._result_reshards(changed[count:])
        reduction = tuple(chain.from_iterable(axes[factor] for factor in self._rule.reduction))
        return OpPlan(
            operands=tuple(
                (index, self._sharding(index))
                for index, sharding in enumerate(operands)
                if changed[index] or self._is_on_other_devices(sharding)
            ),
            results=results,
            summed=self._sums(reduction, results),
        )

    def _minimal_plan(self) -> OpPlan:
        """Return the plan where conflicts may stay."""
        results: tuple[ResultReshard, ...] = ()
        if self._case.kind is OpKind.DOT and reshard_dot_result(
            self._projection, self._rule, self._case.sizes
        ):
            result = ResultReshard(0, self._sharding(2), self._own_or_empty(0, is_open=False))
            results = (result,)
        reduction = self._reduction_axes_of_unreduced_result()
        return OpPlan(results=results, summed=self._sums(reduction, results))

    def _sharding(self, index: int) -> TensorSharding:
        """Return the sharding that the factor shardings of a tensor amount to.

        An axis that splits a dimension now is explicitly replicated no longer.
        """
        tensor = list(self._projection.tensors())[index]
        rule = self._rule
        sharding = tensor.to_sharding(rule.tensors[index], rule.factor_sizes, self._mesh)
        split = [axis for dimension in sharding.dimensions for axis in dimension.axes]
        return replace(sharding, replicated=axes_without(sharding.replicated, split, self._mesh))

    def _result_reshards(self, changed: Sequence[bool]) -> tuple[ResultReshard, ...]:
        count = len(self._case.operands)
        reshards: list[ResultReshard] = []
        for index, sharding in enumerate(self._case.results):
            if changed[index] or self._is_on_other_devices(sharding):
                wanted = self._own_or_empty(index, is_open=bool(reshards))
                reshards.append(ResultReshard(index, self._sharding(count + index), wanted))
        return tuple(reshards)

    def _is_on_other_devices(self, sharding: TensorSharding | None) -> bool:
        return (
            sharding is not None
            and not sharding.is_fully_replicated
            and sharding.bound_mesh.device_ids != self._mesh.device_ids
        )

    def _own_or_empty(self, index: int, *, is_open: bool) -> TensorSharding:
        """Return the sharding that a result has; one that does not split it where it has none.

        That is open where another result has been given a sharding: then all of the op have one.
        """
        empty = TensorSharding.fully_open if is_open else TensorSharding.fully_closed
        return self._case.results[index] or empty(self._mesh, self._rule.results[index].rank)

    def _reduction_axes_of_unreduced_result(self) -> tuple[AxisRef, ...]:
        """Return the axes along which the op leaves partial results, if any are meant to stay."""
        if not self._case.results or not unreduced_axes(self._case.results[0]):
            return ()
        axes = [common_axes_of_factor(self._projection, f) for f in self._rule.reduction]
        if any(factor_axes is None for factor_axes in axes):
            raise Error("the result has unreduced axes, but operands differ in what is reduced")
        return tuple(axis for factor_axes in axes for axis in factor_axes or ())

    def _sums(
        self, reduction: tuple[AxisRef, ...], reshards: Sequence[ResultReshard]
    ) -> tuple[tuple[int, AllReduce], ...]:
        """Return the all-reduces of the results along what is not to stay unreduced."""
        if not self._case.results or not reduction:
            return ()
        axes = axes_without(reduction, unreduced_axes(self._case.results[0]), self._mesh)
        if not axes:
            return ()
        axes = sorted_axes(axes, self._mesh)
        new = {reshard.index: reshard.sharding for reshard in reshards}
        return tuple(
            (index, AllReduce(axes, new.get(index) or self._own_or_empty(index, is_open=bool(new))))
            for index in range(len(self._case.results))
        )
