"""Which module, mesh and type the sharding that is put on a value must fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from jaxlib.mlir import ir

from sdy.dialect.errors import Error, VerifyError, check_type
from sdy.dialect.mesh import Mesh
from sdy.dialect.names import is_utf8, symbol
from sdy.dialect.verifier import unknown_mesh
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.symbols import SYMBOL, symbol_name
from sdy.ir.values import FunctionResult, enclosing_module

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.sharding import TensorSharding

__all__ = ["AnyValue", "bind", "ensure_mesh", "find_mesh", "module_of", "resolve"]

AnyValue: TypeAlias = "ir.Value | ir.OpView | ir.Operation | FunctionResult"


def resolve(value: AnyValue) -> ir.Value | FunctionResult:
    """Return the value that is meant: of an op, its only result."""
    if not isinstance(value, ir.OpView | ir.Operation):
        return value
    op = value.operation
    if len(op.results) != 1:
        raise Error(f"op '{op.name}' has {len(op.results)} results: say which one is sharded")
    return op.results[0]


def module_of(op: ir.Operation) -> ir.Module:
    """Return the nearest module op around an op: it has what is used of an `ir.Module`."""
    module = enclosing_module(op)
    if module is None:
        raise Error(f"op '{op.name}' is not in a module")
    return cast("ir.Module", module.opview)


def bind(sharding: TensorSharding | str, module: ir.Module, type_: ir.Type) -> TensorSharding:
    """Return the sharding on the module's mesh, verified against it and the type."""
    if not isinstance(type_, ir.RankedTensorType):
        raise VerifyError(f"only a ranked tensor can be sharded, got type {type_}")
    meshes = IndexedModule(module).meshes
    if isinstance(sharding, str):
        from sdy.dialect.parser import parse_sharding

        sharding = parse_sharding(sharding, meshes)
    if isinstance(sharding.mesh, str):
        if sharding.mesh not in meshes:
            raise unknown_mesh(sharding.mesh)
        sharding = sharding.bind(meshes[sharding.mesh])
    shape = [None if type_.is_dynamic_dim(i) else size for i, size in enumerate(type_.shape)]
    sharding.verify(shape=shape)
    _check_name_is_free(module, sharding.bound_mesh)
    return sharding


def _check_name_is_free(module: ir.Module, mesh: Mesh) -> None:
    """Check that no mesh of the module but an equal one has that name, nor any other symbol."""
    meshes = IndexedModule(module).meshes
    if mesh.name is None or meshes.get(mesh.name) == mesh:
        return
    if not is_utf8("".join((mesh.name, *mesh.axis_names))):
        raise VerifyError(f"the mesh has a name that is not UTF-8: {mesh}")
    if mesh.name in meshes:
        raise VerifyError(f"the module has another mesh of that name: {meshes[mesh.name]}")
    for op in module.body.operations:
        attributes = op.operation.attributes
        if SYMBOL in attributes and symbol_name(op.operation) == mesh.name:
            raise VerifyError(
                f"mesh @{symbol(mesh.name)} cannot be added: the module has an op "
                f"'{op.operation.name}' of that name"
            )


def ensure_mesh(module: ir.Module, mesh: Mesh) -> None:
    """Add a named mesh to the module where it is not there; `bind` has checked its name."""
    if mesh.name is None or mesh.name in IndexedModule(module).meshes:
        return
    from jaxlib.mlir.dialects import sdy as mlir_sdy

    mlir_sdy.MeshOp(
        mesh.name,
        ir.Attribute.parse(f"#sdy.mesh<{mesh.body}>"),
        ip=ir.InsertionPoint.at_block_begin(module.body),
    )


def find_mesh(module: ir.Module, mesh: Mesh | str | None) -> Mesh:
    """Return a mesh as the module has it.

    Args:
      module: the module.
      mesh: the name of one of its meshes; a mesh, which is the module's own where that has one
        with the same axes and devices and no other name is asked for; None for the only one.

    Raises:
      VerifyError: where the module has no such mesh, or has not just one.

    """
    check_type(mesh, (Mesh, str, type(None)), "mesh", "a Mesh or the name of one")
    meshes = IndexedModule(module).meshes
    if isinstance(mesh, str):
        if mesh not in meshes:
            raise VerifyError(f"unknown mesh: @{symbol(mesh)}; the module has {_listed(meshes)}")
        return meshes[mesh]
    if mesh is None:
        if len(meshes) != 1:
            raise VerifyError(f"say which mesh is meant: the module has {_listed(meshes)}")
        return next(iter(meshes.values()))
    if mesh.name is None:
        return next((known for known in meshes.values() if known.equals(mesh)), mesh)
    return mesh


def _listed(meshes: Iterable[str]) -> str:
    return ", ".join(f"@{symbol(name)}" for name in meshes) or "no mesh"
