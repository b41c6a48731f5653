"""XLA's protocol buffer `NamedShardingProto`, from a `NamedForm` and back.

It refers to axes by their place in the mesh. The numbers of fields are those of
`xla/xla_data.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect import wire
from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.named_form import NamedForm
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["decode_named", "encode_named"]

_MESH, _DIMENSIONS, _REPLICATED, _UNREDUCED, _METADATA, _MANUAL = 2, 3, 4, 5, 6, 7
_MESH_AXES, _MESH_DEVICES, _MESH_IOTA = 1, 2, 3


def encode_named(named: NamedForm, metadata: Iterable[bytes]) -> bytes:
    """Return the serialized NamedShardingProto, with these serialized OpMetadata in it."""
    mesh, sharding = named.mesh, named.sharding
    message = wire.bytes_field(_MESH, _encode_mesh(mesh))
    for dimension in sharding.dimensions:
        axes = b"".join(wire.bytes_field(1, _encode_axis(axis, mesh)) for axis in dimension.axes)
        is_closed = wire.integer_field(2, dimension.is_closed)
        message += wire.bytes_field(_DIMENSIONS, axes + is_closed)
    for number, axes_of in ((_REPLICATED, sharding.replicated), (_UNREDUCED, sharding.unreduced)):
        message += _encode_axes(number, axes_of, mesh)
    message += b"".join(wire.bytes_field(_METADATA, each) for each in metadata)
    return message + _encode_axes(_MANUAL, named.manual, mesh)


def _encode_axes(number: int, axes: Iterable[AxisRef], mesh: Mesh) -> bytes:
    return b"".join(wire.bytes_field(number, _encode_axis(axis, mesh)) for axis in axes)


def _encode_axis(axis: AxisRef, mesh: Mesh) -> bytes:
    message = wire.integer_field(1, mesh.axis_index(axis.name))
    if axis.sub_axis:
        pre_size = wire.integer_field(1, axis.sub_axis.pre_size)
        message += wire.bytes_field(2, pre_size + wire.integer_field(2, axis.sub_axis.size))
    return message


def _encode_mesh(mesh: Mesh) -> bytes:
    message = b""
    for axis in mesh.axes:
        name = wire.bytes_field(1, axis.name.encode("utf-8", "surrogateescape"))
        message += wire.bytes_field(_MESH_AXES, name + wire.integer_field(2, axis.size))
    return message + wire.integers_field(_MESH_DEVICES, mesh.device_ids)


def decode_named(message: bytes) -> tuple[NamedForm, list[bytes]]:
    """Return the sharding that a NamedShardingProto means, not verified, and its OpMetadata.

    Raises:
      Error: if it is none.

    """
    values = _messages(message)
    mesh = _decode_mesh(values.get(_MESH, [b""])[-1])
    sharding = TensorSharding(
        mesh,
        tuple(_decode_dimension(each, mesh) for each in values.get(_DIMENSIONS, ())),
        _decode_axes(values.get(_REPLICATED, ()), mesh),
        _decode_axes(values.get(_UNREDUCED, ()), mesh),
    )
    manual = _decode_axes(values.get(_MANUAL, ()), mesh)
    return NamedForm(sharding, manual), values.get(_METADATA, [])


def _messages(message: bytes) -> dict[int, list[bytes]]:
    """Return the fields of a message that hold bytes."""
    values: dict[int, list[bytes]] = {}
    for number, value in wire.fields(message):
        if isinstance(value, bytes):
            values.setdefault(number, []).append(value)
    return values


def _decode_dimension(message: bytes, mesh: Mesh) -> DimensionSharding:
    is_closed = dict(wire.fields(message)).get(2, 0)
    return DimensionSharding(_decode_axes(_messages(message).get(1, ()), mesh), bool(is_closed))


def _decode_axes(messages: Iterable[bytes], mesh: Mesh) -> tuple[AxisRef, ...]:
    return tuple(_decode_axis(message, mesh) for message in messages)


def _decode_axis(message: bytes, mesh: Mesh) -> AxisRef:
    values = dict(wire.fields(message))
    place = wire.integer(values.get(1, 0))
    if not 0 <= place < len(mesh.axes):
        raise Error(f"no sharding: it has axis {place} of a mesh with {len(mesh.axes)} axes")
    name = mesh.axes[place].name
    if 2 not in values:
        return AxisRef(name)
    sub_axis = dict(wire.fields(_bytes(values[2])))
    return AxisRef.sub(name, wire.integer(sub_axis.get(1, 0)), wire.integer(sub_axis.get(2, 0)))


def _decode_mesh(message: bytes) -> Mesh:
    values: dict[int, list[int | bytes]] = {}
    for number, value in wire.fields(message):
        values.setdefault(number, []).append(value)
    axes = [_decode_mesh_axis(_bytes(value)) for value in values.get(_MESH_AXES, ())]
    ids: Sequence[int] = wire.read_integers(values.get(_MESH_DEVICES, ()))
    if _MESH_IOTA in values:
        ids = _decode_iota([axis.size for axis in axes], _bytes(values[_MESH_IOTA][-1]))
    return Mesh(axes, ids or None)


def _decode_iota(shape: Sequence[int], message: bytes) -> list[int]:
    lists: dict[int, list[int | bytes]] = {1: [], 2: []}
    for number, value in wire.fields(message):
        lists.setdefault(number, []).append(value)
    tiles = TileAssignment.iota(shape, *map(wire.read_integers, (lists[1], lists[2])))
    devices: list[int] = tiles.devices().reshape(-1).tolist()
    return devices


def _decode_mesh_axis(message: bytes) -> MeshAxis:
    values = dict(wire.fields(message))
    name = _bytes(values.get(1, b"")).decode("utf-8", "surrogateescape")
    return MeshAxis(name, wire.integer(values.get(2, 0)))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise Error("no protocol buffer of a sharding: an integer where a message was expected")
    return value
