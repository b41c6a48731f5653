"""Ops for local code: where in the mesh a device is, and sums over groups of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.dialect.mesh import Mesh

__all__ = ["LocalOps"]

# Between devices, as opposed to a device and the host.
_CHANNEL_TYPE = 1


class LocalOps:
    """Creates StableHLO ops at the end of a block.

    Args:
      block: in which code is local along all axes of a mesh.
      location: of the ops.

    """

    def __init__(self, block: ir.Block, location: ir.Location) -> None:
        self._place = ir.InsertionPoint(block)
        self._location = location
        self._context = location.context

    def op(
        self,
        name: str,
        type_: ir.Type,
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """Create an op with one result of a type, and return the result."""
        return ir.Operation.create(
            name,
            results=[type_],
            operands=list(operands),
            attributes=dict(attributes or {}),
            loc=self._location,
            ip=self._place,
        ).results[0]

    def finish(self, name: str, value: ir.Value) -> None:
        """End the block with an op that returns a value."""
        ir.Operation.create(name, operands=[value], loc=self._location, ip=self._place)

    def integer(self, value: int) -> ir.Value:
        """Return a 32-bit integer."""
        return self._constant(f"dense<{value}> : tensor<i32>")

    def zeros(self, type_: ir.RankedTensorType) -> ir.Value:
        """Return a tensor of zeros."""
        element = type_.element_type
        is_float = isinstance(element, ir.FloatType)
        zero = "(0.0, 0.0)" if isinstance(element, ir.ComplexType) else "0.0" if is_float else "0"
        scalar = self._constant(f"dense<{zero}> : tensor<{element}>")
        sizes = ir.DenseI64ArrayAttr.get(type_.shape, self._context)
        return self.op("stablehlo.broadcast", type_, [scalar], {"broadcast_sizes": sizes})

    def _constant(self, text: str) -> ir.Value:
        value = ir.Attribute.parse(text, self._context)
        return self.op("stablehlo.constant", value.type, [], {"value": value})

    def binary(self, name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return the result of an elementwise op on two tensors of one type."""
        return self.op(f"stablehlo.{name}", left.type, [left, right])

    def is_zero(self, value: ir.Value) -> ir.Value:
        """Return whether an integer is 0."""
        boolean = ir.Type.parse("tensor<i1>", self._context)
        equal = ir.Attribute.parse("#stablehlo<comparison_direction EQ>", self._context)
        operands = [value, self.integer(0)]
        return self.op("stablehlo.compare", boolean, operands, {"comparison_direction": equal})

    def coordinates(self, mesh: Mesh) -> dict[str, ir.Value]:
        """Return where this device is along each axis of a mesh with devices 0, 1, 2, ..."""
        unsigned = ir.Type.parse("tensor<ui32>", self._context)
        signed = ir.Type.parse("tensor<i32>", self._context)
        partition = self.op("stablehlo.partition_id", unsigned, [])
        rest = self.op("stablehlo.convert", signed, [partition])
        found: dict[str, ir.Value] = {}
        for axis in reversed(mesh.axes):
            size = self.integer(axis.size)
            found[axis.name] = self.binary("remainder", rest, size)
            rest = self.binary("divide", rest, size)
        return found

    def sum_over(
        self,
        name: str,
        value: ir.Value,
        type_: ir.Type,
        groups: np.ndarray,
        channel: int,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """Return the result of a collective that adds up what groups of devices have.

        Args:
          name: of the op.
          value: what this device has.
          type_: of the result.
          groups: devices that add up with each other, a row each.
          channel: a number that no other collective has.
          attributes: more of the op's.

        """
        integer = ir.IntegerType.get_signless(64, self._context)
        dense = np.ascontiguousarray(groups, dtype=np.int64)
        handle = f"#stablehlo.channel_handle<handle = {channel}, type = {_CHANNEL_TYPE}>"
        op = ir.Operation.create(
            name,
            results=[type_],
            operands=[value],
            attributes={
                "replica_groups": ir.DenseElementsAttr.get(
                    dense, type=integer, context=self._context
                ),
                "channel_handle": ir.Attribute.parse(handle, self._context),
                "use_global_device_ids": ir.UnitAttr.get(self._context),
                **(attributes or {}),
            },
            regions=1,
            loc=self._location,
            ip=self._place,
        )
        self._fill_with_addition(op.regions[0], ir.RankedTensorType(type_).element_type)
        return op.results[0]

    def _fill_with_addition(self, region: ir.Region, element: ir.Type) -> None:
        scalar = ir.RankedTensorType.get([], element, loc=self._location)
        block = region.blocks.append(scalar, scalar, arg_locs=[self._location] * 2)
        inner = LocalOps(block, self._location)
        inner.finish("stablehlo.return", inner.binary("add", *block.arguments))
