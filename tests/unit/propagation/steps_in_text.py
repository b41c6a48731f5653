"""Steps of propagation, written as text."""

from __future__ import annotations

from collections.abc import Sequence

from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import parse_rule, parse_sharding
from sdy.dialect.sharding import TensorSharding
from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.op_priorities import Flow
from sdy.passes.propagation.step import take_step
from sdy.passes.propagation.step_case import OpClass, StepCase, Strategy

MESH = Mesh({"a": 4, "b": 2, "c": 2, "d": 3}, name="m")


def sharding(text: str | None, mesh: Mesh = MESH) -> TensorSharding | None:
    """Return a sharding of `[...]` and what may follow it; None for None."""
    return None if text is None else parse_sharding(f"sharding<@m, {text}>", mesh)


def step(
    rule: str,
    *shardings: str | None,
    strategy: Strategy = Strategy.BASIC,
    directions: Sequence[Direction] | None = None,
    elementwise: bool = False,
    conservative: bool = False,
) -> list[str | None]:
    """Return the shardings of the operands, then results, after one step, without mesh."""
    parsed = parse_rule(rule)
    op = OpClass(parsed, Flow.OTHER, is_elementwise=elementwise, conservative=conservative)
    before = [sharding(text) for text in shardings]
    after = list(before)
    every = directions or [Direction.BOTH] * parsed.factor_count
    case = StepCase(op, strategy, tuple(every), tuple(before))
    for position, new in take_step(case):
        after[position] = new
    return [None if s is None else s.body.removeprefix("@m, ") for s in after]
