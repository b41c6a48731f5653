"""One op in a function, from its text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.passes.propagation.rules.registry import rule_for

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["last_op", "rule_text"]


@contextmanager
def last_op(text: str, *, arguments: str = "") -> Iterator[ir.Operation]:
    """Yield the last op before the return of a function with that body."""
    program = f"""
        sdy.mesh @mesh = <["x"=2, "y"=4]>
        func.func @main({arguments}) {{
          {text}
          return
        }}"""
    with make_context():
        module = ir.Module.parse(program)
        function = module.body.operations[1]
        operations = list(function.regions[0].blocks[0].operations)
        yield operations[-2].operation


def rule_text(text: str, *, arguments: str = "", conservative: bool = False) -> str | None:
    """Return the text of the rule of the last op, between the angle brackets; None: no rule."""
    with last_op(text, arguments=arguments) as op:
        rule = rule_for(op, conservative)
        return rule.body if rule else None
