"""An `HloSharding` as the objects that jaxlib has for it, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib import xla_client

from sdy.dialect.hlo_proto import decode_hlo_sharding, encode_hlo_sharding

if TYPE_CHECKING:
    from sdy.dialect.hlo_sharding import HloSharding

__all__ = ["from_op_sharding", "from_xla_sharding", "to_op_sharding", "to_xla_sharding"]


def to_op_sharding(sharding: HloSharding) -> xla_client.OpSharding:
    """Return XLA's protocol buffer of a sharding."""
    message = xla_client.OpSharding()
    message.ParseFromString(encode_hlo_sharding(sharding))
    return message


def from_op_sharding(message: xla_client.OpSharding) -> HloSharding:
    """Return the sharding that XLA's protocol buffer means.

    Raises:
      Error: if it says what cannot be.

    """
    return decode_hlo_sharding(message.SerializeToString())


def to_xla_sharding(sharding: HloSharding) -> xla_client.HloSharding:
    """Return XLA's own object for a sharding, such as a JAX `GSPMDSharding` takes."""
    return xla_client.HloSharding.from_proto(to_op_sharding(sharding))


def from_xla_sharding(sharding: xla_client.HloSharding) -> HloSharding:
    """Return the sharding for XLA's own object."""
    return from_op_sharding(sharding.to_proto())
