"""XLA's protocol buffer `OpSharding`, from an `HloSharding` and back.

The numbers of fields and kinds are those of `xla/xla_data.proto`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sdy.dialect import wire
from sdy.dialect.errors import Error
from sdy.dialect.hlo_metadata import OpMetadata, ShardGroup, ShardGroupKind
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind, SubgroupKind
from sdy.dialect.named_proto import decode_named, encode_named
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["decode_hlo_sharding", "encode_hlo_sharding"]

_KINDS = {
    HloShardingKind.REPLICATED: 0,
    HloShardingKind.MAXIMAL: 1,
    HloShardingKind.TUPLE: 2,
    HloShardingKind.TILED: 3,
    HloShardingKind.MANUAL: 4,
    HloShardingKind.UNKNOWN: 5,
    HloShardingKind.UNREDUCED: 6,
    HloShardingKind.NAMED: 0,
}
_SUBGROUPS = {SubgroupKind.REPLICATED: 0, SubgroupKind.MANUAL: 4, SubgroupKind.UNREDUCED: 6}
_SUBGROUP_OF = {number: kind for kind, number in _SUBGROUPS.items()}

_TYPE, _DIMS, _DEVICES, _TUPLE, _REPLICATE_LAST, _METADATA, _LAST_TILE_DIMS = 1, 3, 4, 5, 6, 7, 8
_RESHAPE, _TRANSPOSE, _IN_GROUP, _GROUP_ID, _GROUP_TYPE, _NAMED = 9, 10, 11, 12, 13, 14

_METADATA_FIELDS = {
    1: "op_type",
    2: "op_name",
    3: "source_file",
    4: "source_line",
    5: "profile_type",
    12: "deduplicated_name",
    15: "stack_frame_id",
    16: "scheduling_name",
    17: "source_end_line",
    18: "source_column",
    19: "source_end_column",
}


def encode_hlo_sharding(sharding: HloSharding) -> bytes:
    """Return the serialized OpSharding."""
    message = wire.integer_field(_TYPE, _KINDS[sharding.kind])
    if sharding.named is not None:
        named = encode_named(sharding.named, map(_encode_metadata, sharding.metadata))
        return message + wire.bytes_field(_NAMED, named)
    tiles, subgroups = sharding.tiles, sharding.subgroups
    if sharding.device is not None:
        message += wire.integers_field(_DEVICES, [sharding.device])
    if tiles is not None:
        message += wire.integers_field(_DIMS, tiles.dims) + wire.integers_field(_DEVICES, tiles.ids)
    for element in sharding.elements:
        message += wire.bytes_field(_TUPLE, encode_hlo_sharding(element))
    is_partial = subgroups == (SubgroupKind.REPLICATED,)
    message += wire.integer_field(_REPLICATE_LAST, is_partial)
    for metadata in sharding.metadata:
        message += wire.bytes_field(_METADATA, _encode_metadata(metadata))
    if not is_partial:
        message += wire.integers_field(_LAST_TILE_DIMS, [_SUBGROUPS[kind] for kind in subgroups])
    if tiles is not None:
        message += wire.integers_field(_RESHAPE, tiles.reshape)
        message += wire.integers_field(_TRANSPOSE, tiles.transpose)
    return message + _encode_group(sharding.shard_group)


def _encode_group(group: ShardGroup | None) -> bytes:
    if group is None:
        return b""
    is_like = group.kind is ShardGroupKind.LIKE
    return (
        wire.integer_field(_IN_GROUP, True)
        + wire.integer_field(_GROUP_ID, group.number)
        + wire.integer_field(_GROUP_TYPE, is_like)
    )


def _encode_metadata(metadata: OpMetadata) -> bytes:
    message = b""
    for number, name in _METADATA_FIELDS.items():
        value = getattr(metadata, name)
        if isinstance(value, str):
            encoded = value.encode("utf-8", "surrogateescape")
            message += wire.bytes_field(number, encoded) if encoded else b""
        elif isinstance(value, tuple):
            message += wire.integers_field(number, value)
        else:
            message += wire.integer_field(number, value)
    return message


def decode_hlo_sharding(message: bytes) -> HloSharding:
    """Return the sharding that a serialized OpSharding means.

    Raises:
      Error: if it is none, or one that says what cannot be.

    """
    try:
        return _decode(message)
    except ValueError as error:
        raise Error(f"no sharding: {error}") from None


def _decode(message: bytes) -> HloSharding:
    values: dict[int, list[Any]] = {}
    for number, value in wire.fields(message):
        values.setdefault(number, []).append(value)
    metadata = tuple(map(_decode_metadata, values.get(_METADATA, ())))
    if _NAMED in values:
        form, encoded = decode_named(values[_NAMED][-1])
        named = HloSharding.of_names(form.sharding, form.manual)
        return named.with_suffixes(None, map(_decode_metadata, encoded))
    return _form(values).with_suffixes(_decode_group(values), metadata)


def _form(values: Mapping[int, list[Any]]) -> HloSharding:
    kind = _last(values, _TYPE)
    if kind == _KINDS[HloShardingKind.TILED]:
        return _tiled(values)
    if kind == _KINDS[HloShardingKind.MAXIMAL]:
        devices = wire.read_integers(values.get(_DEVICES, ()))
        if len(devices) != 1:
            raise ValueError(f"maximal, but on {len(devices)} devices")
        return HloSharding.maximal(devices[0])
    if kind == _KINDS[HloShardingKind.TUPLE]:
        return HloSharding.tuple_of(map(_decode, values.get(_TUPLE, ())))
    for simple in ("REPLICATED", "MANUAL", "UNKNOWN", "UNREDUCED"):
        if kind == _KINDS[HloShardingKind[simple]]:
            return HloSharding(HloShardingKind[simple])
    raise ValueError(f"it has the unknown type {kind}")


def _tiled(values: Mapping[int, list[Any]]) -> HloSharding:
    dims, devices, reshape, transpose, last = (
        wire.read_integers(values.get(number, ()))
        for number in (_DIMS, _DEVICES, _RESHAPE, _TRANSPOSE, _LAST_TILE_DIMS)
    )
    if math.prod(dims) < 1 or min(dims, default=1) < 1:
        raise ValueError(f"{dims} has no place for a device")
    if len(set(devices)) < len(devices):
        raise ValueError("a device is listed twice")
    unknown = [number for number in last if number not in _SUBGROUP_OF]
    if unknown:
        raise ValueError(f"it has a subgroup of the unknown type {unknown[0]}")
    tiles = (
        TileAssignment.iota(dims, reshape, transpose)
        if reshape
        else TileAssignment.listed(dims, devices)
    )
    subgroups = [_SUBGROUP_OF[number] for number in last]
    if _last(values, _REPLICATE_LAST):
        subgroups = [SubgroupKind.REPLICATED]
    return HloSharding.tiled(tiles, subgroups)


def _last(values: Mapping[int, list[Any]], number: int) -> int:
    return wire.integer(values[number][-1]) if number in values else 0


def _decode_group(values: Mapping[int, list[Any]]) -> ShardGroup | None:
    if not _last(values, _IN_GROUP):
        return None
    kind = ShardGroupKind.LIKE if _last(values, _GROUP_TYPE) else ShardGroupKind.AS
    return ShardGroup(kind, _last(values, _GROUP_ID))


def _decode_metadata(message: bytes) -> OpMetadata:
    said: dict[str, Any] = {}
    profile: list[int | bytes] = []
    for number, value in wire.fields(message):
        name = _METADATA_FIELDS.get(number)
        if name == "profile_type":
            profile.append(value)
        elif name is not None:
            said[name] = _text_or_integer(value)
    return OpMetadata(**said, profile_type=tuple(wire.read_integers(profile)))


def _text_or_integer(value: int | bytes) -> str | int:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return wire.integer(value)
