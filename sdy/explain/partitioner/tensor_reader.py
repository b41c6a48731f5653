"""The tensors of a module as the partitioner sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.explain.partitioner.op_case import Tensor
from sdy.ir.value_sharding import sharding_of
from sdy.passes.export_pipeline.explicit_reshards.value_types import ValueTypes

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["TensorReader", "element_bytes"]


class TensorReader:
    """Reads values, once for each type and sharding.

    Attributes:
      types: a number for each type and sharding.

    """

    def __init__(self, module: IndexedModule, mesh: Mesh) -> None:
        self.types = ValueTypes(module)
        self._codec = module.codec
        self._mesh = mesh
        self._known: dict[int, Tensor | None] = {}

    def read(self, value: ir.Value) -> Tensor | None:
        """Return the tensor that a value is; None for what is none, or has no fixed shape.

        What has no sharding, or is on one device only, counts as replicated.
        """
        number = self.types.of(value)
        if number not in self._known:
            self._known[number] = self._read(value)
        return self._known[number]

    def sharding(self, value: ir.Value) -> TensorSharding | None:
        """Return how a value is sharded; None for what is no tensor."""
        tensor = self.read(value)
        return None if tensor is None else tensor.sharding

    def _read(self, value: ir.Value) -> Tensor | None:
        type_ = value.type
        if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
            return None
        sharding = sharding_of(value, self._codec)
        if sharding is None or sharding.bound_mesh.is_maximal:
            sharding = TensorSharding.fully_closed(self._mesh, type_.rank)
        return Tensor(tuple(type_.shape), element_bytes(type_.element_type), sharding)


def element_bytes(type_: ir.Type) -> int:
    """Return the bytes of an element, at least one."""
    if isinstance(type_, ir.ComplexType):
        return 2 * element_bytes(type_.element_type)
    if isinstance(type_, (ir.IntegerType, ir.FloatType)):
        return max(1, int(type_.width) // 8)
    return 1
