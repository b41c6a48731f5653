"""Says how a value of a module is sharded, wherever that kind of value keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error, check_type
from sdy.dialect.sharding import TensorSharding
from sdy.ir import sharding_access
from sdy.ir.binding import bind, ensure_mesh, module_of, resolve
from sdy.ir.data_flow import MANUAL_COMPUTATION, owning_op
from sdy.ir.diagnostics import errors_as_exceptions
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.values import FunctionResult

if TYPE_CHECKING:
    from sdy.ir.binding import AnyValue

__all__ = ["set_sharding"]

_VALUES = (ir.Value, ir.OpView, ir.Operation, FunctionResult)


def set_sharding(
    value: AnyValue,
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
        or the value's type, or the mesh not the module; Error where such a value cannot have a
        sharding. The module is then as it was.

    """
    check_type(value, _VALUES, "value", "a value, such as sdy.find_value returns, or an op")
    check_type(sharding, (TensorSharding, str), "sharding", "a TensorSharding or a str")
    value = resolve(value)
    owner = value.function if isinstance(value, FunctionResult) else owning_op(value)
    _check_place(value, owner)
    with owner.context, ir.Location.unknown(), errors_as_exceptions(owner.context):
        module = module_of(owner)
        bound = bind(sharding, module, value.type)
        ensure_mesh(module, bound.bound_mesh)
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
