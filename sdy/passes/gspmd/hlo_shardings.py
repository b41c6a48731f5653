"""The shardings of a module as `mhlo.sharding` attributes, each distinct one made once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding
from sdy.ir.diagnostics import op_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec

__all__ = [
    "HLO_SHARDING",
    "HloShardingAttributes",
    "read_unspecified_dims",
    "says_nothing",
    "unspecified_dims",
]

HLO_SHARDING = "mhlo.sharding"
_UNSPECIFIED_DIMS = re.compile(r"unspecified_dims=\[(?P<dims>[0-9,\s]*)\]")


class HloShardingAttributes:
    """Makes `mhlo.sharding` attributes; it belongs to one run on one module."""

    def __init__(self, codec: AttributeCodec, context: ir.Context) -> None:
        self._codec = codec
        self._context = context
        self._memo: dict[ir.Attribute, ir.Attribute] = {}
        self._replicated: dict[int, ir.Attribute] = {}

    def of_tensor(self, op: ir.Operation, sharding: ir.Attribute) -> ir.Attribute:
        """Return the attribute for a `#sdy.sharding`.

        Raises:
          Error: at `op`, if the sharding is not valid on its mesh.

        """
        known = self._memo.get(sharding)
        if known is None:
            known = self._attribute(self._convert(op, self._codec.sharding(sharding)))
            self._memo[sharding] = known
        return known

    def of_results(self, op: ir.Operation, per_value: ir.Attribute) -> ir.Attribute:
        """Return the attribute of an op for its `#sdy.sharding_per_value`: a tuple for several."""
        known = self._memo.get(per_value)
        if known is None:
            shardings = self._codec.shardings(per_value)
            converted = [self._convert(op, sharding) for sharding in shardings]
            known = self._attribute(_one_or_tuple(converted))
            self._memo[per_value] = known
        return known

    def replicated(self, count: int = 1) -> ir.Attribute:
        """Return the attribute of an op with `count` results, all of them replicated."""
        known = self._replicated.get(count)
        if known is None:
            known = self._attribute(_one_or_tuple([HloSharding.replicated()] * count))
            self._replicated[count] = known
        return known

    def maximal(self) -> ir.Attribute:
        """Return the attribute of an op that runs on the first device only."""
        return self._attribute(HloSharding.maximal(0))

    def _convert(self, op: ir.Operation, sharding: TensorSharding) -> HloSharding:
        try:
            return HloSharding.from_sharding(sharding)
        except VerifyError as error:
            raise op_error(op, str(error)) from None

    def _attribute(self, sharding: HloSharding) -> ir.Attribute:
        return ir.StringAttr.get(str(sharding), self._context)


def _one_or_tuple(shardings: Sequence[HloSharding]) -> HloSharding:
    return shardings[0] if len(shardings) == 1 else HloSharding.tuple_of(shardings)


def says_nothing(sharding: TensorSharding) -> bool:
    """Return whether `sharding` is the same as none: no axes, every dimension open.

    A scalar has no dimension to open: its sharding says that it is replicated.
    """
    return (
        sharding.has_no_axes
        and bool(sharding.dimensions)
        and not any(dimension.is_closed for dimension in sharding.dimensions)
    )


def unspecified_dims(sharding: TensorSharding) -> str:
    """Return the backend config with which GSPMD may split open dimensions further.

    Empty where every dimension is closed.
    """
    opened = [i for i, d in enumerate(sharding.dimensions) if not d.is_closed]
    return f"unspecified_dims=[{','.join(map(str, opened))}]" if opened else ""


def read_unspecified_dims(backend_config: str) -> frozenset[int]:
    """Return the dimensions that a backend config of `unspecified_dims` names; none otherwise."""
    match = _UNSPECIFIED_DIMS.search(backend_config)
    return frozenset(map(int, re.findall(r"[0-9]+", match["dims"]))) if match else frozenset()
