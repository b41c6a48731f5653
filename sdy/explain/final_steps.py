"""The steps of ops with the shardings that propagation ended with.

None of them would change anything: propagation ends there. What cuts axes off in them is what
keeps a tensor from being split further.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.propagation.op_priorities import OP_PRIORITIES, factor_directions
from sdy.passes.propagation.projection import Projection
from sdy.passes.propagation.step import common_mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.record import Record
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.projection import Axes, TensorFactors
    from sdy.passes.propagation.step_case import OpClass

__all__ = ["FinalStep", "FinalSteps"]


@dataclass(frozen=True, slots=True)
class _Case:
    """What ops of one class with the same shardings have in common."""

    mesh: Mesh
    projection: Projection
    factors: tuple[TensorFactors, ...]
    directions: tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class FinalStep:
    """The step of one op, with all directions allowed that the op ever allows.

    Attributes:
      mark: the op.
      op: what the step reads of it.
      tensors: those of the step, operands first.

    """

    mark: int
    op: OpClass
    tensors: tuple[int, ...]
    _case: _Case

    @property
    def mesh(self) -> Mesh:
        """The mesh of the shardings."""
        return self._case.mesh

    @property
    def projection(self) -> Projection:
        """The shardings as those of the factors of the op's rule."""
        return self._case.projection

    @property
    def directions(self) -> tuple[Direction, ...]:
        """For each factor, where its axes may go."""
        return self._case.directions

    def factors(self, position: int) -> TensorFactors:
        """Return how the factors of a tensor are sharded."""
        return self._case.factors[position]

    def axes(self, position: int, factor: int) -> Axes:
        """Return the axes that split a factor of a tensor."""
        sharding = self._case.factors[position].factors.get(factor)
        return () if sharding is None else sharding.axes


class FinalSteps:
    """The final steps of the ops of a record, each distinct one worked out once."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._steps: dict[int, FinalStep | None] = {}
        self._cases: dict[tuple[int, ...], _Case | None] = {}
        self._sites: dict[int, list[tuple[int, int]]] = {}
        for mark, tensors in enumerate(record.op_tensors):
            if mark not in record.erased:
                for position, tensor in enumerate(tensors):
                    self._sites.setdefault(tensor, []).append((mark, position))

    def sites(self, tensor: int) -> Sequence[tuple[int, int]]:
        """Return the ops whose steps a tensor takes part in, and its positions in them."""
        return self._sites.get(tensor, ())

    def step(self, mark: int) -> FinalStep | None:
        """Return the step of an op; None for one without, or without shardings on one mesh."""
        if mark not in self._steps:
            self._steps[mark] = self._make_step(mark)
        return self._steps[mark]

    def has_several_meshes(self, mark: int) -> bool:
        """Return whether the tensors of an op are not all on one mesh."""
        shardings = [self._record.shardings[tensor] for tensor in self._record.op_tensors[mark]]
        known = any(sharding is not None for sharding in shardings)
        return known and common_mesh(shardings) is None

    def _make_step(self, mark: int) -> FinalStep | None:
        record = self._record
        op, tensors = record.classes[mark], record.op_tensors[mark]
        if op is None:
            return None
        shardings = [record.shardings[tensor] for tensor in tensors]
        if mark in record.seen:
            shardings[-1] = record.seen[mark]
        # The record has one object for each distinct class and sharding.
        key = (id(op), *map(id, shardings))
        if key not in self._cases:
            self._cases[key] = _make_case(op, shardings)
        case = self._cases[key]
        return None if case is None else FinalStep(mark, op, tensors, case)


def _make_case(op: OpClass, shardings: Sequence[TensorSharding | None]) -> _Case | None:
    mesh = common_mesh(shardings)
    if mesh is None or mesh.is_maximal:
        return None
    projection = Projection.build(shardings, op.rule, mesh)
    directions = factor_directions(op.rule, op.flow, OP_PRIORITIES[-1], multiple_uses=False)
    return _Case(mesh, projection, tuple(projection.tensors()), directions)
