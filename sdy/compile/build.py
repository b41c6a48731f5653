"""The work behind `sdy.compile`: export to GSPMD, then XLA's compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxlib import xla_client
from jaxlib.mlir import ir

from sdy.compile.executable import Executable
from sdy.compile.hlo_form.form import to_hlo_form
from sdy.compile.hlo_form.kept_shardings import keep_shardings
from sdy.compile.plugin_module import copies_to_constraints
from sdy.compile.signature import named_results, read_signature
from sdy.compile.targets import backend_for
from sdy.compile.trees import read_trees
from sdy.dialect.errors import Error
from sdy.ir.bytecode import to_bytecode
from sdy.ir.diagnostics import op_error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.load import load
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING
from sdy.passes.gspmd.to_gspmd import to_gspmd
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import jax

    from sdy.compile.backend import Backend, Compiled
    from sdy.ir.load import Lowered

__all__ = ["build", "xla_options"]


def build(
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    target: str | Sequence[jax.Device],
    *,
    propagate: bool | None = None,
    complete: bool,
) -> Executable:
    """Return the executable of a program; see `sdy.compile.compiler.compile`."""
    backend = backend_for(target)
    module = _copy(load(program))
    if propagate is None:
        propagate = not isinstance(program, ir.Module)
    to_hlo_form(module, backend.client.platform, is_propagated=not propagate)
    if propagate:
        run_pipeline(module, "sdy-propagation-pipeline")
    named = named_results(module, len(backend.devices))
    keep_shardings(IndexedModule(module))
    to_gspmd(module, complete=complete)
    _refuse_unreduced(module)
    if backend.client.platform != "cpu":
        copies_to_constraints(module)
    signature = read_signature(module, len(backend.devices), named)
    trees = read_trees(program, len(signature.arguments))
    return Executable(signature, _compile(module, backend), backend, trees)


def _compile(module: ir.Module, backend: Backend) -> Compiled:
    devices, options = xla_client.DeviceList(backend.devices), xla_options(backend.devices)
    try:
        if backend.is_here:
            return backend.client.compile_and_load(to_bytecode(module), devices, options)
        return backend.client.compile(module, executable_devices=devices, compile_options=options)
    except RuntimeError as error:
        raise Error(f"XLA cannot compile the program: {error}") from error


def _refuse_unreduced(module: ir.Module) -> None:
    """Raise `sdy.Error` at an op whose result is unreduced.

    XLA's partitioner takes the parts of such a tensor for the tensor: wrong numbers, no error.
    """
    for _, op in IndexedModule(module).in_order:
        sharding = op.attributes.get(HLO_SHARDING)
        if sharding is not None and "unreduced" in ir.StringAttr(sharding).value:
            raise op_error(op, f"XLA cannot partition an op whose result is unreduced: {sharding}")


def _copy(module: ir.Module) -> ir.Module:
    return ir.Module.parse(to_bytecode(module), module.context)


def xla_options(devices: Sequence[jax.Device]) -> Any:
    """Return XLA's options: one partition a device, Shardy off, signature shardings fixed."""
    num_devices = len(devices)
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
        np.asarray([[device.id for device in devices]])
    )
    return options
