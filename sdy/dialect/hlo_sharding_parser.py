"""XLA's text of an `HloSharding`, read."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, ParseError
from sdy.dialect.hlo_metadata import OpMetadata, ShardGroup, ShardGroupKind, unescape
from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.syntax_errors import syntax_error
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from lark.tree import Meta

__all__ = ["parse_hlo_sharding"]

_TERMINALS = {
    "NUMBER": "a number",
    "NUMBERS": "numbers",
    "SIGNED": "an integer",
    "KIND": "manual, replicated or unreduced",
    "STRING": "a quoted string",
    "TEXT_FIELD": "a field such as op_name",
    "NUMBER_FIELD": "a field such as source_line",
}


class _FormError(Exception):
    """A form that the grammar allows and that is wrong all the same."""

    def __init__(self, meta: Meta, message: str) -> None:
        super().__init__(message)
        self.position = meta.start_pos


def parse_hlo_sharding(text: str) -> HloSharding:
    """Return the sharding of XLA's text; see `HloSharding.parse`."""
    try:
        tree = _grammar().parse(text)
        sharding: HloSharding = _Builder().transform(tree)
    except UnexpectedInput as error:
        raise syntax_error(text, error, _grammar(), _TERMINALS) from None
    except VisitError as error:
        if isinstance(error.orig_exc, _FormError):
            place = error.orig_exc.position
            raise ParseError.at(text, place, str(error.orig_exc)) from None
        if isinstance(error.orig_exc, Error):
            raise error.orig_exc from None
        raise
    return sharding


@cache
def _grammar() -> Lark:
    return Lark.open("hlo_sharding.lark", rel_to=__file__, parser="lalr", propagate_positions=True)


# The methods of a lark transformer bear the names of the grammar's rules.
class _Builder(Transformer[Token, Any]):
    """Builds values from the tree; a value that cannot be is an error where it stands."""

    def start(self, children: list[HloSharding]) -> HloSharding:
        return children[0]

    def tuple_of(self, children: list[HloSharding]) -> HloSharding:
        return HloSharding.tuple_of(children)

    # ---- Tiles, without names

    @v_args(meta=True)
    def plain(self, meta: Meta, children: list[Any]) -> HloSharding:
        form, *suffixes = children
        said = dict(suffixes)
        if len(said) < len(suffixes):
            raise _FormError(meta, "a shard group or metadata given twice")
        sharding: HloSharding = form
        return sharding.with_suffixes(said.get("group"), said.get("metadata", ()))

    def replicated(self, _: list[Any]) -> HloSharding:
        return HloSharding.replicated()

    def manual(self, _: list[Any]) -> HloSharding:
        return HloSharding.manual()

    def unreduced(self, _: list[Any]) -> HloSharding:
        return HloSharding.unreduced()

    def unknown(self, _: list[Any]) -> HloSharding:
        return HloSharding.unknown()

    def maximal(self, children: list[Token]) -> HloSharding:
        return HloSharding.maximal(int(children[0]))

    @v_args(meta=True)
    def tiled(self, meta: Meta, children: list[Any]) -> HloSharding:
        dims, order, subgroups = children
        try:
            return HloSharding.tiled(_assignment(dims, *order), subgroups)
        except ValueError as error:
            raise _FormError(meta, str(error)) from None

    def dims(self, children: list[Token]) -> list[int]:
        return _numbers(children)

    def counted(self, children: list[Token]) -> tuple[list[int], list[int], list[int]]:
        return [int(children[0])], [0], []

    def transposed(self, children: list[Any]) -> tuple[list[int], list[int], list[int]]:
        return children[0], _numbers(children[1:]), []

    def listed(self, children: list[Token]) -> tuple[list[int], list[int], list[int]]:
        return [], [], _numbers(children)

    def none(self, _: list[Any]) -> list[SubgroupKind]:
        return []

    def replicas(self, _: list[Any]) -> list[SubgroupKind]:
        return [SubgroupKind.REPLICATED]

    def kinds(self, children: list[SubgroupKind]) -> list[SubgroupKind]:
        return children

    def kind(self, children: list[Token]) -> SubgroupKind:
        return SubgroupKind(str(children[0]))

    def shard_as(self, children: list[Token]) -> tuple[str, ShardGroup]:
        return "group", ShardGroup(ShardGroupKind.AS, int(children[0]))

    def shard_like(self, children: list[Token]) -> tuple[str, ShardGroup]:
        return "group", ShardGroup(ShardGroupKind.LIKE, int(children[0]))

    # ---- Names of a mesh and its axes

    @v_args(meta=True)
    def named(self, meta: Meta, children: list[Any]) -> HloSharding:
        axes, ids, of_tensor, *entries = children
        mesh = Mesh(axes, ids)
        said = dict(entries)
        if len(said) < len(entries):
            raise _FormError(meta, "axes or metadata given twice")
        everywhere = tuple(AxisRef(axis.name) for axis in axes)
        sets = {"replicated": (), "unreduced": (), "manual": (), **said}
        if isinstance(of_tensor, str):
            sets[of_tensor] = everywhere
        dimensions = () if isinstance(of_tensor, str) else tuple(of_tensor)
        sharding = TensorSharding(mesh, dimensions, sets["replicated"], sets["unreduced"])
        named = HloSharding.of_names(sharding, sets["manual"])
        return named.with_suffixes(None, said.get("metadata", ()))

    def maximal_mesh(self, children: list[Any]) -> HloSharding:
        device, *metadata = children
        sharding = HloSharding.of_names(TensorSharding(Mesh.maximal(int(device))))
        return sharding.with_suffixes(None, dict(metadata).get("metadata", ()))

    def mesh_axes(self, children: list[MeshAxis]) -> list[MeshAxis]:
        return children

    def mesh_axis(self, children: list[Token]) -> MeshAxis:
        return MeshAxis(_string(children[0]), int(children[1]))

    def device_ids(self, children: list[Any]) -> list[int]:
        return _numbers(children) if isinstance(children[0], Token) else children[0]

    @v_args(meta=True)
    def places(self, meta: Meta, children: list[Any]) -> list[int]:
        reshape, *transpose = children
        order = _numbers(transpose) if transpose else None
        try:
            counted = TileAssignment.iota([math.prod(reshape)], reshape, order)
        except ValueError as error:
            raise _FormError(meta, str(error)) from None
        devices: list[int] = counted.devices().tolist()
        return devices

    def nothing_split(self, _: list[Any]) -> list[DimensionSharding]:
        return []

    def manual_everywhere(self, _: list[Any]) -> str:
        return "manual"

    def unreduced_everywhere(self, _: list[Any]) -> str:
        return "unreduced"

    def dimensions(self, children: list[DimensionSharding]) -> list[DimensionSharding]:
        return children

    def dimension(self, children: list[Any]) -> DimensionSharding:
        axes = tuple(child for child in children if isinstance(child, AxisRef))
        return DimensionSharding(axes, is_closed=len(axes) == len(children))

    def replicated_axes(self, children: list[Any]) -> tuple[str, tuple[AxisRef, ...]]:
        return "replicated", children[0]

    def unreduced_axes(self, children: list[Any]) -> tuple[str, tuple[AxisRef, ...]]:
        return "unreduced", children[0]

    def manual_axes(self, children: list[Any]) -> tuple[str, tuple[AxisRef, ...]]:
        return "manual", children[0]

    def axis_set(self, children: list[AxisRef]) -> tuple[AxisRef, ...]:
        return tuple(children)

    def axis(self, children: list[Token]) -> AxisRef:
        name, *sub_axis = children
        if not sub_axis:
            return AxisRef(_string(name))
        return AxisRef.sub(_string(name), *map(int, sub_axis))

    # ---- Metadata

    def metadata(self, children: list[OpMetadata]) -> tuple[str, tuple[OpMetadata, ...]]:
        return "metadata", tuple(children)

    def op_metadata(self, children: list[tuple[str, Any]]) -> OpMetadata:
        return OpMetadata(**dict(children))

    def text_field(self, children: list[Token]) -> tuple[str, str]:
        return str(children[0]), _string(children[1])

    def number_field(self, children: list[Token]) -> tuple[str, int]:
        return str(children[0]), int(children[1])

    def profile_type(self, children: list[Token]) -> tuple[str, tuple[int, ...]]:
        return "profile_type", tuple(_numbers(children))


def _numbers(tokens: list[Token]) -> list[int]:
    return [int(number) for token in tokens for number in token.split(",")]


def _string(token: Token) -> str:
    return unescape(token[1:-1])


def _assignment(
    dims: list[int], reshape: list[int], transpose: list[int], ids: list[int]
) -> TileAssignment:
    if math.prod(dims) < 1:
        raise ValueError(f"{dims} has no place for a device")
    if reshape:
        return TileAssignment.iota(dims, reshape, transpose)
    if len(set(ids)) < len(ids):
        raise ValueError("a device is listed twice")
    return TileAssignment.listed(dims, ids)
