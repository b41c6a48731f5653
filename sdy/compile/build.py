"""The work behind `sdy.compile`: export to GSPMD, then XLA's compiler."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib import xla_client
from jaxlib.mlir import ir

from sdy.compile.executable import Executable
from sdy.compile.signature import read_signature
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error
from sdy.ir.diagnostics import op_error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.load import Lowered, load
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING
from sdy.passes.gspmd.to_gspmd import to_gspmd
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    import os

__all__ = ["build"]


def build(
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module, target: str, *, complete: bool
) -> Executable:
    """Return the executable of a program; see `sdy.compile.compiler.compile`."""
    backend = backend_for(target)
    module = _copy(load(program))
    if isinstance(program, Lowered):
        run_pipeline(module, "sdy-propagation-pipeline")
    to_gspmd(module, complete=complete)
    _refuse_unreduced(module)
    signature = read_signature(module, len(backend.devices))
    try:
        loaded = backend.client.compile_and_load(
            _bytecode(module),
            xla_client.DeviceList(backend.devices),
            _options(len(backend.devices)),
        )
    except RuntimeError as error:
        raise Error(f"XLA cannot compile the program: {error}") from error
    return Executable(signature, loaded, backend)


def _refuse_unreduced(module: ir.Module) -> None:
    """Raise `sdy.Error` at an op whose result is unreduced.

    XLA's partitioner takes the parts of such a tensor for the tensor: wrong numbers, no error.
    """
    for _, op in IndexedModule(module).in_order:
        sharding = op.attributes.get(HLO_SHARDING)
        if sharding is not None and "unreduced" in ir.StringAttr(sharding).value:
            raise op_error(op, f"XLA cannot partition an op whose result is unreduced: {sharding}")


def _copy(module: ir.Module) -> ir.Module:
    return ir.Module.parse(_bytecode(module), module.context)


def _bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _options(num_devices: int) -> Any:
    """Return XLA's options: one partition a device, Shardy off, signature shardings fixed."""
    options = xla_client.CompileOptions()
    options.num_replicas = 1
    options.num_partitions = num_devices
    build = options.executable_build_options
    build.num_replicas = 1
    build.num_partitions = num_devices
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = False
    build.allow_spmd_sharding_propagation_to_parameters = [False]
    build.allow_spmd_sharding_propagation_to_output = [False]
    build.device_assignment = xla_client.DeviceAssignment.create(
        np.arange(num_devices).reshape(1, num_devices)
    )
    return options
