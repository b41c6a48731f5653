"""A sharding on a mesh together with the axes on which its tensor is local already."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.errors import VerifyError
from sdy.dialect.verifier import unknown_axis

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding

__all__ = ["NamedForm"]


@dataclass(frozen=True, slots=True)
class NamedForm:
    """What an `HloSharding` says, with names: the image of XLA's NamedSharding.

    Attributes:
      sharding: bound to its mesh. Without dimensions, but with axes that are manual or
        unreduced, it is for tensors of any rank.
      manual: the axes on which the tensor is local already, in the mesh's order.

    """

    sharding: TensorSharding
    manual: tuple[AxisRef, ...] = ()

    @property
    def mesh(self) -> Mesh:
        """The mesh of the sharding."""
        return self.sharding.bound_mesh

    @property
    def covers_mesh_with_manual(self) -> bool:
        """Whether each device has the tensor for itself."""
        return bool(self.manual) and self._covers(self.manual)

    @property
    def covers_mesh_with_unreduced(self) -> bool:
        """Whether the tensor is the sum of what all devices have."""
        return bool(self.sharding.unreduced) and self._covers(self.sharding.unreduced)

    def _covers(self, axes: Iterable[AxisRef]) -> bool:
        return math.prod(axis.size(self.mesh) for axis in axes) == self.mesh.size

    def verify(self) -> None:
        """Check the sharding on its mesh, and that manual axes are there and free.

        Raises:
          VerifyError: saying which invariant is broken.

        """
        self.mesh.verify()
        self.sharding.verify()
        used = list(self.sharding.axes())
        for axis in self.manual:
            if not self.mesh.has_axis(axis.name):
                raise unknown_axis(axis.name)
            if any(axis.overlaps(other) or not axis.can_coexist(other) for other in used):
                raise VerifyError(f"manual axis {axis} is in use")
            used.append(axis)
