"""Attributes of the sdy dialect in MLIR, and the values of `sdy.dialect`, one into the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.axes import AxisRef, SubAxis
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping
from sdy.ir.symbols import NotTextError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "SHARDING",
    "SHARDING_RULE",
    "AttributeCodec",
    "read_mesh",
    "read_rule",
]

SHARDING = "sdy.sharding"
SHARDING_RULE = "sdy.sharding_rule"


class AttributeCodec:
    """Reads and builds sdy attributes, once per distinct one.

    It belongs to one context and one call: it keeps the attributes that it has seen alive.
    Shardings come bound to the meshes that it was given; a name that is not among them stays
    a name.

    Attributes:
      context: that of the attributes.

    """

    def __init__(self, context: ir.Context, meshes: Mapping[str, Mesh]) -> None:
        self.context = context
        self._meshes = meshes
        self._shardings: dict[ir.Attribute, TensorSharding] = {}
        self._lists: dict[ir.Attribute, tuple[TensorSharding, ...]] = {}
        self._attributes: dict[TensorSharding, ir.Attribute] = {}
        self._list_attributes: dict[tuple[TensorSharding, ...], ir.Attribute] = {}
        self._rules: dict[ir.Attribute, OpShardingRule] = {}
        self._rule_attributes: dict[OpShardingRule, ir.Attribute] = {}
        self._mapping_attributes: dict[TensorMapping, ir.Attribute] = {}

    def sharding(self, attribute: ir.Attribute) -> TensorSharding:
        """Return the value of a `#sdy.sharding`."""
        known = self._shardings.get(attribute)
        if known is None:
            known = self._read_sharding(mlir_sdy.TensorShardingAttr(attribute))
            self._shardings[attribute] = known
        return known

    def shardings(self, attribute: ir.Attribute) -> tuple[TensorSharding, ...]:
        """Return the values of a `#sdy.sharding_per_value`."""
        known = self._lists.get(attribute)
        if known is None:
            entries = mlir_sdy.TensorShardingPerValueAttr(attribute).shardings
            known = tuple(self.sharding(entry) for entry in entries)
            self._lists[attribute] = known
        return known

    def attribute(self, sharding: TensorSharding) -> ir.Attribute:
        """Return the `#sdy.sharding` of a value."""
        known = self._attributes.get(sharding)
        if known is None:
            known = ir.Attribute.parse(f"#sdy.sharding<{sharding.body}>", self.context)
            self._attributes[sharding] = known
            if self._is_bound(sharding):
                self._shardings.setdefault(known, sharding)
        return known

    def list_attribute(self, shardings: tuple[TensorSharding, ...]) -> ir.Attribute:
        """Return the `#sdy.sharding_per_value` of values."""
        known = self._list_attributes.get(shardings)
        if known is None:
            entries = list(map(self.attribute, shardings))
            known = mlir_sdy.TensorShardingPerValueAttr.get(entries, self.context)
            self._list_attributes[shardings] = known
            if all(map(self._is_bound, shardings)):
                self._lists.setdefault(known, shardings)
        return known

    def _is_bound(self, sharding: TensorSharding) -> bool:
        """Return whether a sharding is bound as one would be that is read."""
        mesh = sharding.mesh
        return isinstance(mesh, Mesh) and self._meshes.get(mesh.name or "") is mesh

    def rule(self, attribute: ir.Attribute) -> OpShardingRule:
        """Return the value of a `#sdy.op_sharding_rule`."""
        known = self._rules.get(attribute)
        if known is None:
            known = self._rules[attribute] = read_rule(attribute)
        return known

    def rule_attribute(self, rule: OpShardingRule) -> ir.Attribute:
        """Return the `#sdy.op_sharding_rule` of a value.

        Not by way of text: MLIR reads no factor there that is greater than 2**31 - 1.
        """
        known = self._rule_attributes.get(rule)
        if known is None:
            known = mlir_sdy.OpShardingRuleAttr.get(
                rule.factor_sizes,
                [self._mapping_attribute(mapping) for mapping in rule.operands],
                [self._mapping_attribute(mapping) for mapping in rule.results],
                rule.reduction,
                rule.need_replication,
                rule.permutation,
                rule.blocked_propagation,
                rule.is_custom,
                self.context,
            )
            self._rule_attributes[rule] = known
            self._rules[known] = rule
        return known

    def _mapping_attribute(self, mapping: TensorMapping) -> ir.Attribute:
        known = self._mapping_attributes.get(mapping)
        if known is None:
            dimensions = [
                mlir_sdy.DimMappingAttr.get(dimension.factors, self.context)
                for dimension in mapping.dimensions
            ]
            known = mlir_sdy.TensorMappingAttr.get(dimensions, self.context)
            self._mapping_attributes[mapping] = known
        return known

    def _read_sharding(self, attribute: mlir_sdy.TensorShardingAttr) -> TensorSharding:
        return TensorSharding(
            self._read_mesh_or_name(attribute.mesh_or_ref),
            tuple(_read_dimension(entry) for entry in attribute.dimension_shardings),
            _read_axes(attribute.replicated_axes),
            _read_axes(attribute.unreduced_axes),
        )

    def _read_mesh_or_name(self, attribute: ir.Attribute) -> Mesh | str:
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            name = text_of(ir.FlatSymbolRefAttr(attribute))
            return self._meshes.get(name, name)
        return read_mesh(attribute)


def read_mesh(attribute: ir.Attribute, name: str | None = None) -> Mesh:
    """Return the value of a `#sdy.mesh`, under `name`; NotTextError where an axis' is not."""
    mesh = mlir_sdy.MeshAttr(attribute)
    axes = (MeshAxis(_axis_name(axis), axis.size) for axis in map(mlir_sdy.MeshAxisAttr, mesh.axes))
    return Mesh(axes, mesh.device_ids, name)


def _read_dimension(attribute: ir.Attribute) -> DimensionSharding:
    dimension = mlir_sdy.DimensionShardingAttr(attribute)
    return DimensionSharding(_read_axes(dimension.axes), dimension.is_closed, dimension.priority)


def _read_axes(attributes: Iterable[ir.Attribute]) -> tuple[AxisRef, ...]:
    return tuple(_read_axis(mlir_sdy.AxisRefAttr(attribute)) for attribute in attributes)


def _read_axis(axis: mlir_sdy.AxisRefAttr) -> AxisRef:
    info = axis.sub_axis_info
    if info is None:
        return AxisRef(_axis_name(axis))
    part = mlir_sdy.SubAxisInfoAttr(info)
    return AxisRef(_axis_name(axis), SubAxis(part.pre_size, part.size))


def _axis_name(axis: mlir_sdy.AxisRefAttr | mlir_sdy.MeshAxisAttr) -> str:
    try:
        name: str = axis.name
    except RuntimeError:  # of nanobind
        raise NotTextError(f"the name of an axis is not UTF-8: {axis}") from None
    return name


def read_rule(attribute: ir.Attribute) -> OpShardingRule:
    """Return the value of a `#sdy.op_sharding_rule`."""
    rule = mlir_sdy.OpShardingRuleAttr(attribute)
    return OpShardingRule(
        tuple(rule.factor_sizes),
        tuple(map(_read_mapping, rule.operand_mappings)),
        tuple(map(_read_mapping, rule.result_mappings)),
        tuple(rule.reduction_factors),
        tuple(rule.need_replication_factors),
        tuple(rule.permutation_factors),
        tuple(rule.blocked_propagation_factors),
        rule.is_custom,
    )


def _read_mapping(attribute: ir.Attribute) -> TensorMapping:
    dimensions = map(mlir_sdy.DimMappingAttr, mlir_sdy.TensorMappingAttr(attribute).dim_mappings)
    return TensorMapping(tuple(DimMapping(tuple(d.factor_indices)) for d in dimensions))
