"""What a step of propagation depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from mypy_extensions import mypyc_attr

from sdy.dialect.immutable import Immutable
from sdy.passes.propagation.flow import Flow  # noqa: TC001 - a compiled dataclass loads it
from sdy.passes.propagation.strategy import Strategy

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.direction import Direction

__all__ = ["OpClass", "Round", "StepCase", "Strategy"]


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class Round(Immutable):
    """What one sweep over the ops allows.

    Attributes:
      strategy: how conflicts are met.
      op_priority: which ops take part, and in which direction.

    """

    strategy: Strategy
    op_priority: int

    def __init__(self, strategy: Strategy, op_priority: int) -> None:
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "op_priority", op_priority)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Round):
            return NotImplemented
        return self.strategy is other.strategy and self.op_priority == other.op_priority

    def __hash__(self) -> int:
        return hash((self.strategy, self.op_priority))


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class OpClass(Immutable):
    """All that a step reads of an op; ops of one class behave alike.

    Attributes:
      rule: its sharding rule.
      flow: what the op priorities distinguish in it.
      is_elementwise: whether it counts as elementwise.
      conservative: whether its step may not make sub-axes.

    """

    rule: OpShardingRule
    flow: Flow
    is_elementwise: bool
    conservative: bool

    def __init__(
        self, rule: OpShardingRule, flow: Flow, is_elementwise: bool, conservative: bool
    ) -> None:
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "flow", flow)
        object.__setattr__(self, "is_elementwise", is_elementwise)
        object.__setattr__(self, "conservative", conservative)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpClass):
            return NotImplemented
        return (
            self.rule == other.rule
            and self.flow is other.flow
            and self.is_elementwise == other.is_elementwise
            and self.conservative == other.conservative
        )

    def __hash__(self) -> int:
        return hash((self.rule, self.flow, self.is_elementwise, self.conservative))


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class StepCase(Immutable):
    """All that a step depends on.

    Attributes:
      op: the op's class.
      strategy: how conflicts are met.
      directions: for each factor of the rule, where its axes may go.
      shardings: those of the operands, then of the results.

    """

    op: OpClass
    strategy: Strategy
    directions: tuple[Direction, ...]
    shardings: tuple[TensorSharding | None, ...]

    def __init__(
        self,
        op: OpClass,
        strategy: Strategy,
        directions: tuple[Direction, ...],
        shardings: tuple[TensorSharding | None, ...],
    ) -> None:
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "directions", directions)
        object.__setattr__(self, "shardings", shardings)
