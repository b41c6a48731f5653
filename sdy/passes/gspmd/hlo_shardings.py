"""The shardings of a module as `mhlo.sharding` attributes, each distinct one made once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import TensorSharding
from sdy.ir.diagnostics import op_error
from sdy.passes.gspmd.xla_names import HLO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec

__all__ = [
    "HLO_SHARDING",
    "HloShardingAttributes",
    "read_unspecified_dims",
    "says_nothing",
    "unspecified_dims",
]

_UNSPECIFIED_DIMS = re.compile(r"unspecified_dims=\[(?P<dims>[0-9,\s]*)\]")

ManualAxes = tuple[str, ...]


class HloShardingAttributes:
    """Makes `mhlo.sharding` attributes; it belongs to one run on one module.

    Args:
      codec: the reader of shardings.
      context: the module's.
      with_names: whether the attributes name mesh and axes, as XLA's newest form does.
      simplify_replicated: whether those that split nothing do not even name the mesh.

    """

    def __init__(
        self,
        codec: AttributeCodec,
        context: ir.Context,
        *,
        with_names: bool = False,
        simplify_replicated: bool = False,
    ) -> None:
        self._codec = codec
        self._context = context
        self._with_names = with_names
        self._simplify_replicated = simplify_replicated
        self._memo: dict[tuple[ir.Attribute, ManualAxes], ir.Attribute] = {}
        self._replicated: dict[int, ir.Attribute] = {}

    def of_tensor(
        self, op: ir.Operation, sharding: ir.Attribute, manual_axes: ManualAxes = ()
    ) -> ir.Attribute:
        """Return the attribute for a `#sdy.sharding` of a tensor local along `manual_axes`.

        Raises:
          Error: at `op`, if the sharding is not valid on its mesh.

        """
        known = self._memo.get((sharding, manual_axes))
        if known is None:
            converted = self._convert(op, self._codec.sharding(sharding), manual_axes)
            known = self._memo[sharding, manual_axes] = self._attribute(converted)
        return known

    def of_results(
        self, op: ir.Operation, per_value: ir.Attribute, manual_axes: ManualAxes = ()
    ) -> ir.Attribute:
        """Return the attribute of an op for its `#sdy.sharding_per_value`: a tuple for several."""
        known = self._memo.get((per_value, manual_axes))
        if known is None:
            shardings = self._codec.shardings(per_value)
            converted = [self._convert(op, sharding, manual_axes) for sharding in shardings]
            known = self._memo[per_value, manual_axes] = self._attribute(_one_or_tuple(converted))
        return known

    def replicated(self, count: int = 1) -> ir.Attribute:
        """Return the attribute of an op with `count` results, all of them replicated."""
        known = self._replicated.get(count)
        if known is None:
            known = self._attribute(_one_or_tuple([self._whole()] * count))
            self._replicated[count] = known
        return known

    def _whole(self) -> HloSharding:
        if self._with_names:
            return HloSharding.of_names(TensorSharding(Mesh()))
        return HloSharding.replicated()

    def maximal(self) -> ir.Attribute:
        """Return the attribute of an op that runs on the first device only."""
        return self._attribute(HloSharding.maximal(0))

    def _convert(
        self, op: ir.Operation, sharding: TensorSharding, manual_axes: ManualAxes
    ) -> HloSharding:
        try:
            if self._with_names:
                return self._with_own_names(sharding, manual_axes)
            return HloSharding.from_sharding(sharding, manual_axes)
        except VerifyError as error:
            raise op_error(op, str(error)) from None

    def _with_own_names(self, sharding: TensorSharding, manual_axes: ManualAxes) -> HloSharding:
        mesh = sharding.bound_mesh
        manual = tuple(AxisRef(axis) for axis in mesh.axis_names if axis in manual_axes)
        if mesh.is_maximal or (manual and len(manual) == len(mesh.axes)):
            return HloSharding.of_names(TensorSharding(mesh), manual)
        if self._simplify_replicated and not manual and _is_closed_whole(sharding):
            return self._whole()
        return HloSharding.of_names(sharding, manual)

    def _attribute(self, sharding: HloSharding) -> ir.Attribute:
        return ir.StringAttr.get(str(sharding), self._context)


def _one_or_tuple(shardings: Sequence[HloSharding]) -> HloSharding:
    return shardings[0] if len(shardings) == 1 else HloSharding.tuple_of(shardings)


def _is_closed_whole(sharding: TensorSharding) -> bool:
    return not sharding.unreduced and all(d.is_closed and not d.axes for d in sharding.dimensions)


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


def read_unspecified_dims(op: ir.Operation) -> frozenset[int]:
    """Return the dimensions that the backend config of a custom call leaves to GSPMD, if any."""
    config = op.attributes.get("backend_config")
    if not isinstance(config, ir.StringAttr):
        return frozenset()
    match = _UNSPECIFIED_DIMS.search(ir.StringAttr(config).value)
    return frozenset(map(int, re.findall(r"[0-9]+", match["dims"]))) if match else frozenset()
