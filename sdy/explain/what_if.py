"""What would be if the program said more: a copy of it with more annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.errors import Error, check_type
from sdy.dialect.sharding import TensorSharding
from sdy.explain.program import Value
from sdy.explain.traced import clone_module
from sdy.ir.binding import bind, ensure_mesh, module_of
from sdy.ir.data_flow import owning_op
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.diagnostics import errors_as_exceptions
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import CONSTRAINT, FUNCTION
from sdy.ir.set_sharding import set_sharding
from sdy.ir.values import FunctionResult, operations, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.explain.program import Program
    from sdy.explain.traced import Traced

__all__ = ["with_annotation"]


def with_annotation(
    traced: Traced, values: Value | Sequence[Value], sharding: TensorSharding | str
) -> ir.Module:
    """Return a copy of a program that also says how one value, or each of several, is sharded.

    An argument or a result of a function carries the sharding itself; another value gets a
    sharding constraint, that all who use it read instead.

    Args:
      traced: the program.
      values: of it after propagation, one or several.
      sharding: what to say of it, a value or its text in either spelling.

    Raises:
      Error: where the program before propagation has no such value, or the sharding does not fit.

    """
    check_type(sharding, (TensorSharding, str), "sharding", "a TensorSharding or a str")
    module = clone_module(traced.source)
    ops = operations(module.operation)
    for value in (values,) if isinstance(values, Value) else values:
        place = _place(ops, traced.from_source, value)
        if isinstance(place, FunctionResult) or owning_op(place).name in (FUNCTION, CONSTRAINT):
            set_sharding(place, sharding)
        else:
            _constrain(place, sharding)
    return module


def _place(ops: list[ir.Operation], program: Program, value: Value) -> ir.Value | FunctionResult:
    """Return the value in the program before propagation that a value after it was.

    Args:
      ops: of the program before propagation.
      program: it after propagation; marks are places in `ops`.
      value: a value of it.

    """
    if value.op is None:
        function = next(f for f in program.functions if f.name == value.function)
        if function.mark is None:
            raise _not_there(value)
        op = ops[function.mark]
        if value.number in function.results:
            return _of_function(op, value, function.results.index(value.number), is_result=True)
        return _of_function(op, value, function.arguments.index(value.number), is_result=False)
    defined = program.ops[value.op]
    if defined.mark is None:
        raise _not_there(value)
    number = (*defined.results, *defined.arguments).index(value.number)
    return list(values_of(ops[defined.mark]))[number]


def _of_function(
    op: ir.Operation, value: Value, number: int, *, is_result: bool
) -> ir.Value | FunctionResult:
    """Return an argument or a result of what is a function after propagation."""
    if op.name != FUNCTION:
        # The body of a call: its function had no op of its own.
        raise Error(
            f"{value.spelling} belongs to a function that calls share: give the sharding to what "
            "the call takes or gives"
        )
    return FunctionResult(op, number) if is_result else op.regions[0].blocks[0].arguments[number]


def _not_there(value: Value) -> Error:
    return Error(f"{value.spelling} is not in the program before propagation")


def _constrain(value: ir.Value, sharding: TensorSharding | str) -> None:
    owner = owning_op(value)
    with owner.context, ir.Location.unknown(), errors_as_exceptions(owner.context):
        module = module_of(owner)
        bound = bind(sharding, module, value.type)
        ensure_mesh(module, bound.bound_mesh)
        attribute = IndexedModule(module).codec.attribute(bound)
        constraint = mlir_sdy.ShardingConstraintOp(
            value, attribute, loc=owner.location, ip=insertion_point_after(value)
        )
        value.replace_all_uses_except(constraint.result, constraint.operation)
