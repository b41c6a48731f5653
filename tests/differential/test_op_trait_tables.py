"""The tables of op traits agree with the compiled library on every op of the tensor dialects."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.op_traits import (
    ELEMENTWISE,
    ERASABLE,
    TERMINATORS,
    erasable_when_unused,
    is_elementwise,
    is_terminator,
)
from tests.differential.op_probe import PLACES, ask, block_of, build
from tests.differential.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

DIALECTS = ("arith", "builtin", "cf", "chlo", "func", "math", "mhlo", "scf", "sdy", "stablehlo")
"""The dialects of which jaxlib has Python classes, one for each op."""

OTHER_OPS_WITH_EFFECTS = {
    "shape.cstr_broadcastable",
    "shape.cstr_eq",
    "shape.cstr_require",
    "shape.debug_print",
    "shape.func",
    "shape.function_library",
    "shape.is_broadcastable",
    "shape.meet",
    "shape.reduce",
    "tensor.parallel_insert_slice",
}

NOT_TO_BE_ASKED = {
    "builtin.module",
    "func.call",
    "func.func",
    "sdy.data_flow_edge",
    "sdy.func_data_flow_edge",
    "sdy.manual_computation",
    "sdy.propagation_barrier",
    "sdy.sharding_group",
    "shape.func",
    "shape.function_library",
    "stablehlo.custom_call",
}
"""Ops that propagation reads in ways of their own, so that they must be complete."""

SCHEDULED_LIKE_ELEMENTWISE = {
    "stablehlo.bitcast_convert",
    "stablehlo.reshape",
    "stablehlo.transpose",
}


@cache
def op_names() -> list[str]:
    """Return the names of all ops of the tensor dialects."""
    names = {*ELEMENTWISE, *ERASABLE, *TERMINATORS, *OTHER_OPS_WITH_EFFECTS}
    for dialect in DIALECTS:
        classes = vars(import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")).values()
        names |= {c.OPERATION_NAME for c in classes if hasattr(c, "OPERATION_NAME")}
    low_level = ("affine.", "gpu.", "llvm.", "memref.", "vector.", "vhlo.")
    return sorted(name for name in names if not name.startswith(low_level))


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with make_context(), ir.Location.unknown():
        yield


@pytest.mark.parametrize("place", PLACES)
def test_ops_are_erased_where_the_reference_erases_them(place: str) -> None:
    ours = set()
    for name in op_names():
        module = build(name, place)
        if erasable_when_unused(block_of(module).operations[0].operation):
            ours.add(name)
    assert ours == ask(place, op_names())


def test_elementwise_ops_are_those_of_the_reference() -> None:
    names = [name for name in op_names() if name not in NOT_TO_BE_ASKED]
    ours = {name for name in names if is_elementwise(name)} | SCHEDULED_LIKE_ELEMENTWISE
    assert ours == ask("elementwise", names)


def test_terminators_are_those_of_the_library() -> None:
    for name in [*op_names(), *TERMINATORS]:
        module = build(name, "alone")
        op = block_of(module).operations[0]
        assert is_terminator(name) == op.operation.has_trait(ir.IsTerminatorTrait), name


CUSTOM_CALL = '%0 = "{dialect}.custom_call"(%a) {{call_target_name = "f"{more}}} : {type}'
FUNCTION = "(tensor<4xf32>) -> tensor<4xf32>"


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
@pytest.mark.parametrize("more", ["", ", has_side_effect = true", ", has_side_effect = false"])
@pytest.mark.parametrize("nested", [False, True])
def test_custom_calls_are_erased_where_the_reference_erases_them(
    reference: Reference, dialect: str, more: str, nested: bool
) -> None:
    call = CUSTOM_CALL.format(dialect=dialect, more=more, type=FUNCTION)
    if nested:
        call = (
            f'%i = stablehlo.constant dense<0> : tensor<i32> "stablehlo.case"(%i) '
            f"({{ {call} stablehlo.return }}) : (tensor<i32>) -> ()"
        )
    program = f"func.func @main(%a: tensor<4xf32>) {{ {call} return }}"
    after = reference.run(program, "builtin.module(sdy-basic-propagate)")
    module = ir.Module.parse(program)
    op = list(block_of(module).operations)[-2].operation
    assert erasable_when_unused(op) == ("custom_call" not in after.text)
