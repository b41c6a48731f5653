"""Copies of functions for their calls: how many there may be, and that many are quickly made."""

from __future__ import annotations

import time

import pytest

from sdy.ir.diagnostics import DiagnosticError
from sdy.ir.load import load
from sdy.passes.pipeline import run_pipeline

TYPE = "tensor<8xf32>"


def levels(count: int, calls: int) -> str:
    """A program of functions one below the other, each of which calls the next so many times."""
    functions = []
    for level in range(count):
        lines = [
            f"%{i} = func.call @f{level + 1}({f'%{i - 1}' if i else '%a'}) : ({TYPE}) -> {TYPE}"
            for i in range(calls)
        ]
        lines.append(f"return %{calls - 1} : {TYPE}")
        visibility = "private" if level else ""
        body = "\n  ".join(lines)
        functions.append(f"func.func {visibility} @f{level}(%a: {TYPE}) -> {TYPE} {{\n  {body}\n}}")
    functions.append(
        f"func.func private @f{count}(%a: {TYPE}) -> {TYPE} {{ return %a : {TYPE} }}",
    )
    return "\n".join(functions)


@pytest.mark.parametrize("pass_", ["sdy-flatten-call-graph", "sdy-import-func-calls"])
@pytest.mark.filterwarnings("ignore::sdy.ir.diagnostics.ShardingWarning")
def test_calls_that_multiply_are_refused_not_waited_for(pass_: str) -> None:
    with pytest.raises(DiagnosticError, match="error: more than 100,000 copies are needed"):
        run_pipeline(load(levels(60, calls=2)), pass_)


def test_a_call_has_a_copy_each() -> None:
    module = run_pipeline(load(levels(4, calls=2)), "sdy-flatten-call-graph")
    assert str(module).count("func.func") == 2**5 - 1


def test_a_long_chain_of_calls_takes_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        module = load(levels(count, calls=1))
        started = time.process_time()
        run_pipeline(module, "sdy-import-func-calls")
        return time.process_time() - started

    # Four times as many calls; sixteen times the time if it were quadratic.
    assert min(seconds(2000) for _ in range(3)) < 8 * min(seconds(500) for _ in range(3))
