"""Says how a value of a module is sharded, wherever that kind of value keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jaxlib.mlir import ir

from sdy.dialect.errors import Error, VerifyError
from sdy.ir import sharding_access
from sdy.ir.data_flow import MANUAL_COMPUTATION, owning_op
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.values import FunctionResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding

__all__ = ["set_sharding"]


def set_sharding(
    value: ir.Value | ir.OpView | ir.Operation | FunctionResult,
    sharding: TensorSharding | str,
) -> None:
    """Say how a value is sharded, in place of what was said before.

    Args:
      value: an argument of a function, a result of an op (or the op, where it has just one), or
        a result of a function: `find_value(module, "@main result 0")`.
      sharding: a value or its text in either spelling, such as `<@mesh, [{"x"}, {?}]>`. A named
        mesh made in Python is added to the module where it has none of that name.

    Raises:
      Error: ParseError where the text is no sharding; VerifyError where it does not fit the mesh
        or the value's type; Error where such a value cannot have a sharding.

    """
    if isinstance(value, ir.OpView | ir.Operation):
        value = _only_result(value.operation)
    owner = value.function if isinstance(value, FunctionResult) else owning_op(value)
    _check_place(value, owner)
    with owner.context, ir.Location.unknown():
        module = _module_of(owner)
        bound = _bind(sharding, module, value.type)
        codec = IndexedModule(module).codec
        if isinstance(value, FunctionResult):
            attribute = codec.attribute(bound)
            sharding_access.set_function_sharding(owner, "res_attrs", value.index, attribute)
        else:
            sharding_access.set_sharding_of(value, bound, codec)


def _check_place(value: ir.Value | FunctionResult, owner: ir.Operation) -> None:
    """Raise an error where no attribute could hold the sharding of a value."""
    if isinstance(value, FunctionResult):
        return
    is_local = isinstance(value, ir.BlockArgument) and owner.name == MANUAL_COMPUTATION
    if is_local or sharding_access.shardable_value(value) is None:
        raise Error(
            f"an argument inside '{owner.name}' cannot be given a sharding: "
            "give it to the operand or the result that it stands for"
        )


def _only_result(op: ir.Operation) -> ir.Value:
    if len(op.results) != 1:
        raise Error(f"op '{op.name}' has {len(op.results)} results: say which one is sharded")
    return op.results[0]


def _module_of(op: ir.Operation) -> ir.Module:
    """Return the module op around an op: it has what is used of an `ir.Module`."""
    root = op
    while root.name != "builtin.module":
        if root.parent is None:
            raise Error(f"op '{op.name}' is not in a module")
        root = root.parent.operation
    return cast("ir.Module", root.opview)


def _bind(sharding: TensorSharding | str, module: ir.Module, type_: ir.Type) -> TensorSharding:
    """Return the sharding on the module's mesh, verified against it and the type."""
    if not isinstance(type_, ir.RankedTensorType):
        raise VerifyError(f"only a ranked tensor can be sharded, got type {type_}")
    meshes = IndexedModule(module).meshes
    if isinstance(sharding, str):
        from sdy.dialect.parser import parse_sharding

        sharding = parse_sharding(sharding, meshes)
    if isinstance(sharding.mesh, str):
        if sharding.mesh not in meshes:
            raise VerifyError(f"unknown mesh: @{sharding.mesh}")
        sharding = sharding.bind(meshes[sharding.mesh])
    sharding.verify(shape=type_.shape)
    _ensure_mesh(module, sharding.bound_mesh, meshes)
    return sharding


def _ensure_mesh(module: ir.Module, mesh: Mesh, meshes: Mapping[str, Mesh]) -> None:
    """Add a named mesh to the module where it is not there."""
    if mesh.name is None or meshes.get(mesh.name) == mesh:
        return
    if mesh.name in meshes:
        raise VerifyError(f"the module has another mesh of that name: {meshes[mesh.name]}")
    from jaxlib.mlir.dialects import sdy as mlir_sdy

    mlir_sdy.MeshOp(
        mesh.name,
        ir.Attribute.parse(f"#sdy.mesh<{mesh.body}>"),
        ip=ir.InsertionPoint.at_block_begin(module.body),
    )
