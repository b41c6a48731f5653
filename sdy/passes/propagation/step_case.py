"""What a step of propagation depends on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.op_priorities import Flow

__all__ = ["OpClass", "Round", "StepCase", "Strategy"]


class Strategy(Enum):
    """How conflicts between the tensors of an op are met."""

    BASIC = "basic"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True, slots=True)
class Round:
    """What one sweep over the ops allows.

    Attributes:
      strategy: how conflicts are met.
      op_priority: which ops take part, and in which direction.

    """

    strategy: Strategy
    op_priority: int


@dataclass(frozen=True, slots=True)
class OpClass:
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


@dataclass(frozen=True, slots=True, eq=False)
class StepCase:
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
