"""How XLA prints an `HloSharding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.hlo_metadata import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.hlo_metadata import OpMetadata
    from sdy.dialect.hlo_sharding import HloSharding
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.named_form import NamedForm
    from sdy.dialect.sharding import DimensionSharding

__all__ = ["named_text", "tiled_text", "tuple_text", "with_suffixes"]


def tuple_text(elements: Iterable[HloSharding]) -> str:
    """Return the text of a tuple's shardings; XLA numbers every fifth."""
    texts = [
        f"/*index={i}*/{element}" if i and i % 5 == 0 else str(element)
        for i, element in enumerate(elements)
    ]
    return "{" + ", ".join(texts) + "}"


def tiled_text(sharding: HloSharding) -> str:
    """Return the tiles and subgroups of a tiled sharding, without braces around them."""
    names = [subgroup.value for subgroup in sharding.subgroups]
    if names == ["replicated"]:
        return f"{sharding.tiles} last_tile_dim_replicate"
    return f"{sharding.tiles}" + (f" last_tile_dims={{{', '.join(names)}}}" if names else "")


def with_suffixes(form: str, sharding: HloSharding) -> str:
    """Return `form` with the shard group and the metadata behind it, in braces."""
    group = f" {sharding.shard_group}" if sharding.shard_group else ""
    metadata = sharding.metadata
    if len(metadata) == 1:
        return f"{{{form}{group} metadata={{{metadata[0]}}}}}"
    return f"{{{form}{group}{' ' if metadata else ''}{_metadata_list(metadata)}}}"


def named_text(named: NamedForm, metadata: tuple[OpMetadata, ...]) -> str:
    """Return the text of a sharding that names its mesh and axes."""
    parts = [_mesh(named.mesh), *_named_body(named)]
    if metadata:
        parts.append(_metadata_list(metadata))
    return "{" + ", ".join(parts) + "}"


def _named_body(named: NamedForm) -> list[str]:
    sharding = named.sharding
    if not sharding.dimensions:
        if named.mesh.is_maximal:
            return []
        if sharding.has_no_axes and not named.manual:
            return ["replicated"]
        if named.covers_mesh_with_unreduced:
            return ["unreduced"]
        if named.covers_mesh_with_manual:
            return ["manual"]
    body = ["[" + ", ".join(map(_dimension, sharding.dimensions)) + "]"]
    sets = (
        ("replicated", sharding.replicated),
        ("unreduced", sharding.unreduced),
        ("manual", named.manual),
    )
    return body + [f"{word}={{{', '.join(map(_axis, axes))}}}" for word, axes in sets if axes]


def _mesh(mesh: Mesh) -> str:
    if mesh.is_maximal:
        return f"maximal_mesh[device_id={mesh.device_ids[0]}]"
    axes = ",".join(f"{_name(axis.name)}={axis.size}" for axis in mesh.axes)
    ids = f", device_ids=({','.join(map(str, mesh.device_ids))})" if mesh.device_ids else ""
    return f"mesh[{axes}]{ids}"


def _dimension(dimension: DimensionSharding) -> str:
    parts = [*map(_axis, dimension.axes), *([] if dimension.is_closed else ["?"])]
    return "{" + ", ".join(parts) + "}"


def _axis(axis: AxisRef) -> str:
    return _name(axis.name) + (f":{axis.sub_axis}" if axis.sub_axis else "")


def _name(name: str) -> str:
    # XLA escapes nothing here and cannot read what it prints for a name with a quote in it.
    return f'"{escape(name)}"' if escape(name) != name else f"'{name}'"


def _metadata_list(metadata: tuple[OpMetadata, ...]) -> str:
    return f"metadata={{{', '.join(f'{{{each}}}' for each in metadata)}}}" if metadata else ""
