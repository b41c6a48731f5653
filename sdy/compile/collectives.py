"""The collectives of a compiled program, read from its HLO text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.dialect.device_groups import groups_along
from sdy.dialect.errors import Error
from sdy.dialect.mesh import Mesh
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Collective", "read_collectives"]

_KINDS = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)
_COMMENT = re.compile(r"/\*.*?\*/")
_ARRAY = r"[a-z][a-z0-9]*\[[0-9,]*\](?:\{[^}]*\})?"
_INSTRUCTION = re.compile(
    rf"^\s*(?:ROOT )?%?[\w.-]+ = (?P<shape>{_ARRAY}|\([^=]*\)) "
    rf"(?P<kind>{'|'.join(_KINDS)})(?P<start>-start)?\((?P<rest>.*)$",
    re.MULTILINE,
)
_ARRAYS = re.compile(r"([a-z][a-z0-9]*)\[([0-9,]*)\]")
_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{((?:\{[0-9,]*\},?)*)\}")
_COUNTED = re.compile(
    r"replica_groups=\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?",
)
_NAMED = re.compile(
    r"replica_groups=mesh\[(?P<mesh>[^\]]*)\]"
    r"(?:, device_ids=\((?:(?P<ids>[0-9,]+)|\[(?P<reshape>[0-9,]+)\]T\((?P<order>[0-9,]+)\))\))?"
    r" \{(?P<axes>[^}]*)\}"
)
_AXIS = re.compile(r"'([^']*)'(?::\(([0-9]+)\)([0-9]+))?")
_MESH_AXIS = re.compile(r"'([^']*)'=([0-9]+)")


@dataclass(frozen=True, slots=True)
class Collective:
    """An instruction by which devices exchange data.

    Attributes:
      kind: such as `all-reduce`.
      shape: of the result on one device, such as `f32[4,5]`; several in parentheses.
      groups: the devices that exchange data with each other; for a `collective-permute`, the
        pairs of source and target. Empty means that all devices form one group.
      bytes: the size of the result on one device.

    """

    kind: str
    shape: str
    groups: tuple[tuple[int, ...], ...]
    bytes: int


def read_collectives(hlo: str) -> tuple[Collective, ...]:
    """Return the collectives of HLO text, in the order of the text."""
    return tuple(_read(hlo))


def _read(hlo: str) -> Iterator[Collective]:
    for match in _INSTRUCTION.finditer(_COMMENT.sub("", hlo)):
        arrays = _ARRAYS.findall(match["shape"])
        if match["start"] and match["kind"] in ("all-gather", "collective-permute"):
            # An asynchronous start returns its operand, its result, and its own state.
            arrays = arrays[1:2]
        shapes = [f"{dtype}[{dims}]" for dtype, dims in arrays]
        yield Collective(
            match["kind"],
            shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})",
            _groups(match["rest"]),
            sum(_bytes(dtype, dims) for dtype, dims in arrays),
        )


def _bytes(dtype: str, dims: str) -> int:
    elements = math.prod(_numbers(dims))
    if dtype == "pred":
        return elements
    bits = re.match(r"[a-z]+([0-9]+)", dtype)
    return (elements * int(bits[1]) + 7) // 8 if bits else 0


def _groups(attributes: str) -> tuple[tuple[int, ...], ...]:
    listed = _LISTED.search(attributes)
    if listed:
        return tuple(_numbers(group) for group in re.findall(r"\{([0-9,]*)\}", listed[1]))
    counted = _COUNTED.search(attributes)
    if counted:
        order = _numbers(counted[3]) if counted[3] else None
        tiles = TileAssignment.iota(_numbers(counted[1]), _numbers(counted[2]), order)
        return _rows(tiles)
    named = _NAMED.search(attributes)
    if named:
        return _rows(_along_axes(named))
    raise Error(f"cannot read the replica groups of a collective: {attributes}")


def _along_axes(named: re.Match[str]) -> TileAssignment:
    """Return the groups along axes of a mesh, one a row."""
    sizes = {name: int(size) for name, size in _MESH_AXIS.findall(named["mesh"])}
    ids = _numbers(named["ids"] or "")
    if named["reshape"]:
        counted = TileAssignment.iota(
            tuple(sizes.values()), _numbers(named["reshape"]), _numbers(named["order"])
        )
        ids = tuple(counted.devices().reshape(-1).tolist())
    mesh = Mesh(sizes, ids)
    axes = [
        AxisRef.sub(name, int(pre_size), int(size)) if size else AxisRef(name)
        for name, pre_size, size in _AXIS.findall(named["axes"])
    ]
    return groups_along(mesh, axes)


def _rows(tiles: TileAssignment) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, tiles.devices().tolist()))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()
