"""How a tensor is sharded: which axes of a mesh split each of its dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from mypy_extensions import i64, mypyc_attr

from sdy.dialect import verifier
from sdy.dialect.axes import AxisRef, SubAxis, merge_adjacent_axes
from sdy.dialect.dimension_sharding import DimensionSharding
from sdy.dialect.errors import VerifyError, check_type
from sdy.dialect.immutable import Immutable
from sdy.dialect.mesh import Mesh
from sdy.dialect.names import quote, symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sdy.dialect.partition_spec import Entry

__all__ = [
    "DimensionSharding",
    "ManualAxes",
    "TensorSharding",
    "TensorShardingPerValue",
]


def _axis_list(axes: Iterable[AxisRef]) -> str:
    return ", ".join(map(str, axes))


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class TensorSharding(Immutable):
    """How a tensor is laid out over the devices of a mesh.

    Attributes:
      mesh: the mesh; a bare name where the mesh itself is not at hand. A mesh without a
        name is inlined in the text.
      dimensions: one entry per tensor dimension.
      replicated: axes that propagation may not use, in the mesh's order.
      unreduced: axes along which the tensor holds partial results, in the mesh's order.

    """

    mesh: Mesh | str
    dimensions: tuple[DimensionSharding, ...]
    replicated: tuple[AxisRef, ...]
    unreduced: tuple[AxisRef, ...]
    _hash: i64 = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        mesh: Mesh | str,
        dimensions: tuple[DimensionSharding, ...] = (),
        replicated: tuple[AxisRef, ...] = (),
        unreduced: tuple[AxisRef, ...] = (),
    ) -> None:
        object.__setattr__(self, "mesh", mesh)
        object.__setattr__(self, "dimensions", dimensions)
        object.__setattr__(self, "replicated", replicated)
        object.__setattr__(self, "unreduced", unreduced)
        object.__setattr__(self, "_hash", 0)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorSharding):
            return NotImplemented
        return (
            self.dimensions == other.dimensions
            and (self.mesh is other.mesh or self.mesh == other.mesh)
            and self.replicated == other.replicated
            and self.unreduced == other.unreduced
        )

    def __hash__(self) -> int:
        # Kept, because propagation looks the same few shardings up by the thousand.
        if self._hash == 0:
            of_fields = hash((self.mesh, self.dimensions, self.replicated, self.unreduced))
            object.__setattr__(self, "_hash", of_fields)
        return self._hash

    @staticmethod
    def fully_open(mesh: Mesh | str, rank: int) -> TensorSharding:
        """Return the sharding that says nothing: no axes, every dimension open."""
        return TensorSharding(mesh, (DimensionSharding(is_closed=False),) * rank)

    @staticmethod
    def fully_closed(mesh: Mesh | str, rank: int) -> TensorSharding:
        """Return the sharding that keeps a tensor whole: no axes, every dimension closed."""
        return TensorSharding(mesh, (DimensionSharding(is_closed=True),) * rank)

    @staticmethod
    def from_partition_spec(
        mesh: Mesh, spec: Sequence[Entry], *, rank: int | None = None
    ) -> TensorSharding:
        """Return the closed sharding that a partition spec means.

        Args:
          mesh: the mesh.
          spec: an entry for each dimension of the tensor: None where it is not split, else the
            name or the index of a mesh axis, or a tuple of them, major first.
          rank: the rank of the tensor, to check the number of entries.

        Raises:
          VerifyError: if an entry is missing or is no axis of the mesh, or an axis is used twice.

        """
        from sdy.dialect.partition_spec import sharding_from_spec

        return sharding_from_spec(mesh, spec, rank)

    def to_partition_spec(self) -> tuple[str | tuple[str, ...] | None, ...]:
        """Return the entries of JAX's `PartitionSpec` that splits the dimensions alike.

        One for each dimension: None where it is not split, the name of an axis, or a tuple of
        names, major first. An axis `x` of which sub-axes are used is split into `x.0`, `x.1`,
        .... Only `sdy.jax.to_partition_spec` says which axes are unreduced.

        Raises:
          VerifyError: where the sharding is not valid, or its mesh is not at hand.

        """
        from sdy.dialect.partition_spec import spec_entries, spec_parts

        return spec_entries(self, spec_parts(self))

    def __str__(self) -> str:
        return f"sharding<{self.body}>"

    @property
    def body(self) -> str:
        """The text between the angle brackets, the same in both spellings."""
        parts = [self.mesh_text, "[" + ", ".join(map(str, self.dimensions)) + "]"]
        if self.replicated:
            parts.append("replicated={" + _axis_list(self.replicated) + "}")
        if self.unreduced:
            parts.append("unreduced={" + _axis_list(self.unreduced) + "}")
        return ", ".join(parts)

    @property
    def mesh_name(self) -> str | None:
        """The symbol of the mesh; None for an inlined mesh."""
        return self.mesh if isinstance(self.mesh, str) else self.mesh.name

    @property
    def mesh_text(self) -> str:
        """The mesh as the sharding's text names it."""
        if isinstance(self.mesh, Mesh) and self.mesh.name is None:
            return f"mesh<{self.mesh.body}>"
        return f"@{symbol(self.mesh_name or '')}"

    @property
    def bound_mesh(self) -> Mesh:
        """The mesh itself; VerifyError where only its name is known."""
        if isinstance(self.mesh, str):
            raise verifier.unbound_mesh(self.mesh)
        return self.mesh

    def bind(self, mesh: Mesh) -> TensorSharding:
        """Return this sharding on `mesh`; whether it fits is checked by `verify`."""
        check_type(mesh, Mesh, "mesh", "a Mesh")
        return TensorSharding(mesh, self.dimensions, self.replicated, self.unreduced)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)

    def axes(self) -> Iterator[AxisRef]:
        """Yield every axis named: of the dimensions, replicated, unreduced."""
        for dimension in self.dimensions:
            yield from dimension.axes
        yield from self.replicated
        yield from self.unreduced

    @property
    def has_no_axes(self) -> bool:
        """Whether no axis is named at all."""
        return self.is_fully_replicated and not self.replicated and not self.unreduced

    @property
    def is_fully_replicated(self) -> bool:
        """Whether no dimension is split."""
        return not any([dimension.axes for dimension in self.dimensions])

    def splits_alike(self, other: TensorSharding | None) -> bool:
        """Return whether `other` splits the dimensions on the same axes of the same mesh.

        No sharding is as one that splits nothing, on whatever mesh.
        """
        if other is None or self.is_fully_replicated:
            return self.is_fully_replicated and (other is None or other.is_fully_replicated)
        return self.mesh == other.mesh and [d.axes for d in self.dimensions] == [
            d.axes for d in other.dimensions
        ]

    def closed(self) -> TensorSharding:
        """Return this with every dimension closed and no axes explicitly replicated."""
        closed = tuple([dimension.closed() for dimension in self.dimensions])
        return TensorSharding(self.mesh, closed, (), self.unreduced)

    def opened(self) -> TensorSharding:
        """Return this with every dimension open."""
        opened = tuple([dimension.opened() for dimension in self.dimensions])
        return TensorSharding(self.mesh, opened, self.replicated, self.unreduced)

    def canonical(self) -> TensorSharding:
        """Return the one way to write this sharding.

        Axes of size one go, consecutive sub-axes are merged, a sub-axis that is all of its
        axis is written as the axis, replicated and unreduced axes stand in the mesh's order, and
        a dimension that ends up closed and without axes loses its priority.
        """
        mesh = self.bound_mesh
        mesh.verify()
        return TensorSharding(
            self.mesh,
            tuple([_canonical_dimension(dimension, mesh) for dimension in self.dimensions]),
            _canonical_axis_set(self.replicated, mesh),
            _canonical_axis_set(self.unreduced, mesh),
        )

    def local_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the largest shard of a tensor of `shape`.

        Where a dimension is not divisible, the last shards are smaller or empty.

        Raises:
          VerifyError: where the mesh is not at hand or not valid, or `shape` does not fit.

        """
        mesh = self.bound_mesh
        mesh.verify()
        verifier.verify_shape(shape)
        if mesh.is_maximal and not self.dimensions:
            return tuple(shape)
        verifier.verify_rank(self, shape)
        parts = [dimension.sharded_size(mesh) for dimension in self.dimensions]
        if min(parts, default=1) < 1:
            raise VerifyError(f"sub-axis sizes must be greater than 1: {self}")
        return tuple(-(-size // count) for size, count in zip(shape, parts, strict=True))

    def device_slices(self, shape: Sequence[int]) -> dict[int, tuple[slice, ...]]:
        """Return for every device the part of a tensor of `shape` that it holds."""
        # Imported here because numpy takes longer to import than the rest of the dialect.
        from sdy.dialect import placement

        return placement.device_slices(self, shape)

    def is_equivalent(self, other: TensorSharding, shape: Sequence[int]) -> bool:
        """Return whether both put the same part of a tensor of `shape` on every device.

        The meshes may differ in axes, order and names. Open and closed do not matter, nor do
        axes that are explicitly replicated; unreduced axes do.
        """
        check_type(other, TensorSharding, "other", "a TensorSharding")
        from sdy.dialect import placement

        return placement.is_equivalent(self, other, shape)

    def verify(self, mesh: Mesh | None = None, shape: verifier.Shape | None = None) -> None:
        """Check every invariant against `mesh` (default: its own) and, if given, `shape`.

        Raises:
          VerifyError: saying which invariant is broken.

        """
        if mesh is None:
            mesh = self.bound_mesh
        check_type(mesh, Mesh, "mesh", "a Mesh")
        _check_types(self)
        mesh.verify()
        if shape is not None:
            verifier.verify_shape(shape, may_be_dynamic=True)
        verifier.verify_sharding(self, mesh, shape)


def _check_types(sharding: TensorSharding) -> None:
    """Check what a sharding is made of: it is made too often to do so then."""
    dimensions: tuple[object, ...] = sharding.dimensions
    for dimension in dimensions:
        check_type(dimension, DimensionSharding, "dimensions", "DimensionSharding values")
    axes: Iterable[object] = sharding.axes()
    for axis in axes:
        check_type(axis, AxisRef, "axes", "AxisRef values")
    for axis in sharding.axes():
        check_type(axis.name, str, "axis name", "a str")
        check_type(axis.sub_axis, (SubAxis, type(None)), "sub-axis", "a SubAxis or None")


def _canonical_dimension(dimension: DimensionSharding, mesh: Mesh) -> DimensionSharding:
    axes = _canonical_axes(dimension.axes, mesh)
    says_nothing = dimension.is_closed and not axes
    return DimensionSharding(
        axes, dimension.is_closed, None if says_nothing else dimension.priority
    )


def _canonical_axes(axes: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    return merge_adjacent_axes((_whole(axis, mesh) for axis in axes if axis.size(mesh) > 1), mesh)


def _canonical_axis_set(axes: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    return _canonical_axes(sorted(axes, key=lambda axis: axis.mesh_order(mesh)), mesh)


def _whole(axis: AxisRef, mesh: Mesh) -> AxisRef:
    is_whole = axis.pre_size == 1 and axis.size(mesh) == mesh.axis_size(axis.name)
    return AxisRef(axis.name) if is_whole else axis


@dataclass(frozen=True, slots=True)
class TensorShardingPerValue:
    """The shardings of a list of values, such as the results of an op."""

    shardings: tuple[TensorSharding, ...]

    def __str__(self) -> str:
        return f"sharding_per_value<{self.body}>"

    @property
    def body(self) -> str:
        """The text between the angle brackets, the same in both spellings."""
        return "[" + ", ".join(f"<{sharding.body}>" for sharding in self.shardings) + "]"

    def verify(self, shapes: Sequence[verifier.Shape | None]) -> None:
        """Check each sharding on its own mesh, for values of these shapes.

        Raises:
          VerifyError: saying which value's sharding breaks which invariant.

        """
        verifier.verify_sharding_per_value(self, shapes)


@dataclass(frozen=True, slots=True)
class ManualAxes:
    """The axes on which the body of a manual computation is local."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "manual_axes{" + ", ".join(map(quote, self.names)) + "}"

    def verify(self, mesh: Mesh) -> None:
        """Check that `mesh` has these axes.

        Raises:
          VerifyError: naming one that it has not.

        """
        verifier.verify_manual_axes(self, mesh)
