"""What is inserted: ops that change how a tensor is sharded, without a place in a module yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.ir.axis_lists import axes_attribute, axes_per_dim_attribute
from sdy.ir.op_names import ALL_REDUCE, REPLICATED_TO_UNREDUCED, RESHARD, SHARDED_TO_UNREDUCED

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.axis_lists import AxesPerDim

__all__ = ["AllReduce", "ReplicatedToUnreduced", "Reshard", "ShardedToUnreduced", "Step"]


@dataclass(frozen=True, slots=True)
class Reshard:
    """A reshard; what it takes is decided later."""

    sharding: TensorSharding

    name = RESHARD

    def attributes(self, codec: AttributeCodec, _: ir.Context) -> dict[str, ir.Attribute]:
        """Return the attributes of the op."""
        return {"sharding": codec.attribute(self.sharding)}


@dataclass(frozen=True, slots=True)
class AllReduce:
    """Partial results along `axes` are summed."""

    axes: tuple[AxisRef, ...]
    sharding: TensorSharding

    name = ALL_REDUCE

    def attributes(self, codec: AttributeCodec, context: ir.Context) -> dict[str, ir.Attribute]:
        """Return the attributes of the op."""
        return {
            "reduction_axes": axes_attribute(self.axes, context),
            "out_sharding": codec.attribute(self.sharding),
        }


@dataclass(frozen=True, slots=True)
class ReplicatedToUnreduced:
    """What is replicated along `axes` counts once: all but one device hold zeros."""

    axes: tuple[AxisRef, ...]
    sharding: TensorSharding

    name = REPLICATED_TO_UNREDUCED

    def attributes(self, codec: AttributeCodec, context: ir.Context) -> dict[str, ir.Attribute]:
        """Return the attributes of the op."""
        return {
            "axes": axes_attribute(self.axes, context),
            "out_sharding": codec.attribute(self.sharding),
        }


@dataclass(frozen=True, slots=True)
class ShardedToUnreduced:
    """Dimensions split along `axes` become whole: each device fills up its part with zeros."""

    axes: AxesPerDim
    sharding: TensorSharding

    name = SHARDED_TO_UNREDUCED

    def attributes(self, codec: AttributeCodec, context: ir.Context) -> dict[str, ir.Attribute]:
        """Return the attributes of the op."""
        return {
            "axes": axes_per_dim_attribute(self.axes, context),
            "out_sharding": codec.attribute(self.sharding),
        }


Step = Reshard | AllReduce | ReplicatedToUnreduced | ShardedToUnreduced
