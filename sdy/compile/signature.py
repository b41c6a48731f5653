"""What a program takes and returns, read from a module that was exported to GSPMD."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind, SubgroupKind
from sdy.dialect.sharding import TensorSharding
from sdy.ir.diagnostics import op_error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.main_function import function_named_main
from sdy.ir.op_names import FUNCTION
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.value_sharding import function_result_sharding
from sdy.ir.values import signature
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.signature_attributes import Field

__all__ = ["ShardedType", "Signature", "named_results", "read_signature"]

_DTYPES = {
    "i1": np.bool_,
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f16": np.float16,
    "bf16": jnp.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    "f8E4M3FN": jnp.float8_e4m3fn,
    "f8E5M2": jnp.float8_e5m2,
}


@dataclass(frozen=True, slots=True)
class ShardedType:
    """A tensor type and how tensors of it are laid out over the devices.

    Attributes:
      shape: of the whole tensor.
      dtype: of its elements.
      sharding: the layout.
      named: the same layout by the names of a mesh; None where there is none.

    """

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    sharding: HloSharding
    named: TensorSharding | None = None

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}] {self.sharding}"

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of the part on each device; where it is not divisible, it is padded."""
        return self.sharding.local_shape(self.shape)

    @property
    def is_divisible(self) -> bool:
        """Whether no device has padding."""
        return all(
            size % tiles == 0
            for size, tiles in zip(self.shape, self.sharding.data_dims, strict=False)
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments and results of a program."""

    arguments: tuple[ShardedType, ...]
    results: tuple[ShardedType, ...]


def named_results(module: ir.Module, num_devices: int) -> tuple[TensorSharding | None, ...]:
    """Return the shardings of main's results, as they are before the export to GSPMD.

    A result without one is replicated over the module's mesh, if it has one. None stands where
    there is no mesh with axes over that many devices.
    """
    function, indexed = _main(module), IndexedModule(module)
    meshes = [mesh for mesh in indexed.meshes.values() if mesh.axes and mesh.size == num_devices]
    results = []
    for index, value_type in enumerate(signature(function).results):
        found = function_result_sharding(function, index, indexed.codec)
        if found is None and meshes and isinstance(value_type, ir.RankedTensorType):
            found = TensorSharding.fully_closed(meshes[0], ir.RankedTensorType(value_type).rank)
        usable = found and found.bound_mesh.axes and found.bound_mesh.size == num_devices
        results.append(found if usable else None)
    return tuple(results)


def read_signature(
    module: ir.Module, num_devices: int, named: Sequence[TensorSharding | None] = ()
) -> Signature:
    """Return the signature of the module's `main` function.

    Args:
      module: exported to GSPMD.
      num_devices: over which tensors are laid out.
      named: what `named_results` returned before the export.

    Raises:
      Error: if there is no such function, or if it takes or returns what cannot be laid out
        over that many devices.

    """
    function = _main(module)
    kind = signature(function)
    arguments = _read(function, "argument", "arg_attrs", kind.inputs, num_devices)
    results = _read(function, "result", "res_attrs", kind.results, num_devices)
    if named:
        results = tuple(replace(r, named=n) for r, n in zip(results, named, strict=True))
    return Signature(arguments, results)


def _main(module: ir.Module) -> ir.Operation:
    ops = (op.operation for op in module.body)
    found = function_named_main(op for op in ops if op.name == FUNCTION)
    if found is None:
        raise Error("the program has no function 'main'")
    return found


def _read(
    function: ir.Operation, what: str, field: Field, types: Sequence[ir.Type], num_devices: int
) -> tuple[ShardedType, ...]:
    entries = signature_entries(function, field)
    values = []
    for index, (entry, value_type) in enumerate(zip(entries, types, strict=True)):
        sharding = _sharding(entry)
        problem = _problem(value_type, sharding, num_devices)
        if problem:
            raise op_error(function, f"{what} {index} {problem}")
        tensor = ir.RankedTensorType(value_type)
        dtype = np.dtype(_DTYPES[str(tensor.element_type)])
        values.append(ShardedType(tuple(tensor.shape), dtype, sharding))
    return tuple(values)


def _sharding(entry: ir.DictAttr) -> HloSharding:
    if HLO_SHARDING not in entry:
        return HloSharding.replicated()
    return HloSharding.parse(ir.StringAttr(entry[HLO_SHARDING]).value)


def _problem(value_type: ir.Type, sharding: HloSharding, num_devices: int) -> str | None:
    """Return why tensors of a type cannot be passed; None where they can."""
    if not isinstance(value_type, ir.RankedTensorType):
        return f"has type {value_type}: only tensors can be passed"
    tensor = ir.RankedTensorType(value_type)
    if not tensor.has_static_shape:
        return f"has type {value_type}: its shape must be static"
    if str(tensor.element_type) not in _DTYPES:
        return f"has type {value_type}: numpy has no such element type"
    if sharding.kind is HloShardingKind.MAXIMAL:
        device = sharding.device or 0
        return None if 0 <= device < num_devices else f"is on device {device} of {num_devices}"
    whole = (HloShardingKind.REPLICATED, HloShardingKind.TILED)
    if sharding.kind not in whole or set(sharding.subgroups) - {SubgroupKind.REPLICATED}:
        return f"has sharding {sharding}: its devices do not hold parts of one tensor"
    if sharding.num_devices not in (None, num_devices):
        return (
            f"has sharding {sharding} over {sharding.num_devices} devices: "
            f"the target has {num_devices}"
        )
    return None
