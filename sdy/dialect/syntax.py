"""From text to the values of the dialect, by the grammar in `sharding.lark`.

What comes out is not verified, and names of meshes are not looked up: see `parser`. Importing
this module imports lark, so `parser` does so only when there is something to parse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from sdy.dialect.axes import AxisRef, SubAxis
from sdy.dialect.errors import ParseError
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.names import unquote
from sdy.dialect.sharding import (
    DimensionSharding,
    ManualAxes,
    TensorSharding,
    TensorShardingPerValue,
)
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping
from sdy.dialect.syntax_errors import syntax_error
from sdy.dialect.words import (
    WordError,
    read_factor_size,
    read_factors,
    read_first_factor,
    read_integer,
    read_integers,
    read_priority,
    read_shape,
)

__all__ = ["PerValueText", "ShardingText", "Start", "read"]

Start = Literal["mesh_text", "sharding_text", "per_value_text", "manual_axes_text", "rule_text"]

_TERMINALS = {
    "STRING": "a quoted name",
    "SYMBOL": "a mesh such as @mesh",
    "INTEGER": "an integer",
    "INTEGERS": "an integer",
    "PRIORITY": "a priority such as p1",
    "FACTORS": "a factor such as i or z_1",
    "TENSOR_TYPE": "a type such as tensor<4x8xf32>",
}


@dataclass(frozen=True, slots=True)
class ShardingText:
    """A sharding, the meshes defined in front of it and the shape given behind it."""

    meshes: dict[str, Mesh]
    sharding: TensorSharding
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class PerValueText:
    """A list of shardings, and the meshes defined in front of it."""

    meshes: dict[str, Mesh]
    per_value: TensorShardingPerValue


def read(text: str, start: Start) -> Any:
    """Return the value that `text` spells; `start` is the rule of the grammar it must match.

    Raises:
      ParseError: where and why it does not.

    """
    try:
        return _parser().parse(text, start=start)
    except WordError as error:
        raise ParseError.at(text, error.position, str(error)) from None
    except UnexpectedInput as error:
        raise syntax_error(text, error, _parser(), _TERMINALS) from None


@cache
def _parser() -> Lark:
    return Lark.open_from_package(
        "sdy.dialect",
        "sharding.lark",
        parser="lalr",
        start=["mesh_text", "sharding_text", "per_value_text", "manual_axes_text", "rule_text"],
        maybe_placeholders=True,
        transformer=_Values(),
    )


# The methods of a lark transformer bear the names of the grammar's rules.
@v_args(inline=True)
class _Values(Transformer[Token, Any]):
    """Builds the values while the parser runs."""

    # ---- Meshes

    def mesh_axis(self, name: Token, size: Token) -> MeshAxis:
        return MeshAxis(unquote(name), read_integer(size))

    def mesh(self, *parts: Any) -> Mesh:
        *axes, device_ids = parts
        return Mesh(axes, None if device_ids is None else read_integers(device_ids))

    def bare_mesh(self, *axes: MeshAxis) -> Mesh:
        return Mesh(axes)

    def mesh_name(self, name: Token) -> str:
        text = name[1:]
        return unquote(text) if text.startswith('"') else text

    def named_mesh(self, name: Token, mesh: Mesh) -> Mesh:
        return mesh.renamed(self.mesh_name(name))

    def mesh_text(self, mesh: Mesh) -> Mesh:
        return mesh

    def mesh_definitions(self, *meshes: Mesh) -> dict[str, Mesh]:
        return {mesh.name: mesh for mesh in meshes if mesh.name is not None}

    # ---- Shardings

    def axis(self, name: Token, pre_size: Token | None, size: Token | None) -> AxisRef:
        if pre_size is None or size is None:
            return AxisRef(unquote(name))
        return AxisRef(unquote(name), SubAxis(read_integer(pre_size), read_integer(size)))

    def closed_dimension(self, *parts: Any) -> DimensionSharding:
        *axes, priority = parts
        return DimensionSharding(tuple(axes), True, read_priority(priority))

    def open_dimension(self, *parts: Any) -> DimensionSharding:
        *axes, priority = parts
        return DimensionSharding(tuple(axes), False, read_priority(priority))

    def dimensions(self, *dimensions: DimensionSharding) -> tuple[DimensionSharding, ...]:
        return dimensions

    def axis_set(self, *axes: AxisRef) -> tuple[AxisRef, ...]:
        return axes

    def replicated(self, axes: tuple[AxisRef, ...]) -> tuple[str, tuple[AxisRef, ...]]:
        return "replicated", axes

    def unreduced(self, axes: tuple[AxisRef, ...]) -> tuple[str, tuple[AxisRef, ...]]:
        return "unreduced", axes

    def axis_sets(self, *sets: tuple[str, tuple[AxisRef, ...]]) -> dict[str, tuple[AxisRef, ...]]:
        return dict(sets)

    def sharding(
        self,
        mesh: Mesh | str,
        dimensions: tuple[DimensionSharding, ...],
        axis_sets: dict[str, tuple[AxisRef, ...]],
    ) -> TensorSharding:
        return TensorSharding(mesh, dimensions, **axis_sets)

    def sharding_text(
        self, meshes: dict[str, Mesh], sharding: TensorSharding, tensor_type: Token | None
    ) -> ShardingText:
        return ShardingText(meshes, sharding, read_shape(tensor_type))

    # ---- Lists of shardings, and manual axes

    def per_value(self, *shardings: TensorSharding) -> TensorShardingPerValue:
        return TensorShardingPerValue(shardings)

    def per_value_text(
        self, meshes: dict[str, Mesh], per_value: TensorShardingPerValue
    ) -> PerValueText:
        return PerValueText(meshes, per_value)

    def manual_axes_text(self, *names: Token) -> ManualAxes:
        return ManualAxes(tuple(map(unquote, names)))

    # ---- Op sharding rules

    def mapping(self, *dimensions: Token) -> TensorMapping:
        return TensorMapping(tuple(DimMapping(read_factors(d)) for d in dimensions))

    def mappings(self, *mappings: TensorMapping) -> tuple[TensorMapping, ...]:
        return mappings

    def factor_size(self, name: Token, size: Token) -> tuple[Token, Token]:
        return name, size

    def factor_sizes(self, *entries: tuple[Token, Token]) -> tuple[int, ...]:
        return tuple(read_factor_size(index, *entry) for index, entry in enumerate(entries))

    def factor_set(self, *factors: Token) -> tuple[int, ...]:
        return tuple(map(read_first_factor, factors))

    def rule(
        self,
        operands: tuple[TensorMapping, ...],
        results: tuple[TensorMapping, ...],
        factor_sizes: tuple[int, ...],
        reduction: tuple[int, ...],
        need_replication: tuple[int, ...],
        permutation: tuple[int, ...],
        blocked_propagation: tuple[int, ...],
        custom: Token | None,
    ) -> OpShardingRule:
        return OpShardingRule(
            factor_sizes,
            operands,
            results,
            reduction,
            need_replication,
            permutation,
            blocked_propagation,
            is_custom=custom is not None,
        )

    def rule_text(self, rule: OpShardingRule) -> OpShardingRule:
        return rule
