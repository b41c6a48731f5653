"""What it takes to bring a tensor from one sharding to another: collectives, and their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sdy.dialect.errors import VerifyError
from sdy.passes.export_pipeline.reshard_planner import find_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.passes.export_pipeline.reshard_steps import ReshardStep

__all__ = ["ReshardPlan", "plan_reshard"]

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class ReshardPlan:
    """How to bring a tensor from one sharding to another.

    Attributes:
      from_: the sharding before.
      to: the sharding after.
      shape: of the tensor.
      steps: the collectives in order; none where nothing is to be done.

    """

    from_: TensorSharding
    to: TensorSharding
    shape: tuple[int, ...]
    steps: tuple[ReshardStep, ...]

    @property
    def bytes(self) -> int:
        """How many bytes each device receives in all steps together, at most."""
        return sum(step.bytes for step in self.steps)

    def __str__(self) -> str:
        return "\n".join(f"{step}: {step.bytes} bytes" for step in self.steps)


def plan_reshard(
    from_: TensorSharding, to: TensorSharding, shape: Sequence[int], itemsize: int = 4
) -> ReshardPlan:
    """Return the collectives that bring a tensor from one sharding to another.

    Both are on one mesh, or on two that differ in the order of devices. Reducing is not
    resharding: the unreduced axes are the same.

    Args:
      from_: the sharding before, on a mesh.
      to: the sharding after, on a mesh.
      shape: of the whole tensor.
      itemsize: the bytes of an element.

    Raises:
      VerifyError: where the shardings do not fit each other or the shape.

    """
    if not from_.rank == to.rank == len(shape):
        raise VerifyError(f"ranks differ: {from_.rank}, {to.rank} and {len(shape)}")
    if not from_.bound_mesh.equals(to.bound_mesh, ignore_device_ids=True):
        raise VerifyError(f"meshes have other axes: {from_.bound_mesh} and {to.bound_mesh}")
    if from_.unreduced != to.unreduced:
        raise VerifyError(f"unreduced axes differ: {from_} and {to}")
    return _plan(from_, to, tuple(shape), itemsize)


@lru_cache(maxsize=_REMEMBERED)
def _plan(
    from_: TensorSharding, to: TensorSharding, shape: tuple[int, ...], itemsize: int
) -> ReshardPlan:
    if from_.is_fully_replicated and to.is_fully_replicated:
        return ReshardPlan(from_, to, shape, ())
    return ReshardPlan(from_, to, shape, find_steps(from_, to, shape, itemsize))
