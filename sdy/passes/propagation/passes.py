"""The propagation passes, each a layer above the one before."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.errors import Error
from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass, option
from sdy.passes.propagation.composites import composites_followed
from sdy.passes.propagation.debug_attributes import DebugOptions
from sdy.passes.propagation.op_priorities import OP_PRIORITIES
from sdy.passes.propagation.rules.registry import RULES
from sdy.passes.propagation.schedule import Schedule, propagate_shardings
from sdy.passes.propagation.step_case import Strategy
from sdy.passes.propagation.unknown_ops import warn_of_unknown_ops
from sdy.passes.propagation.user_rule_attributes import write_user_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule

__all__ = [
    "AggressivePropagate",
    "BasicPropagate",
    "OpPriorityPropagate",
    "PopulateOpShardingRules",
    "UserPriorityPropagate",
]

_STRATEGIES = {
    "basic": (Strategy.BASIC,),
    "aggressive": (Strategy.AGGRESSIVE,),
    "basic-then-aggressive": (Strategy.BASIC, Strategy.AGGRESSIVE),
}


@dataclass(frozen=True, slots=True)
class BasicPropagate(Pass):
    """Propagates shardings without resolving conflicts.

    The lowest layer: axes spread between the operands and results of an op as far as all of them
    agree.
    """

    name: ClassVar[str] = "sdy-basic-propagate"

    keep_sharding_rules: bool = option(
        False, "Whether ops keep the sharding rules that they have or get."
    )
    module_dump_directory: str = option(
        "", "Where to write the module to between two user priorities."
    )
    conservative_propagation: bool = option(
        False, "Whether to split no axes, and to shard no dimensions that are not divisible."
    )
    debug_sharding_origins: bool = option(
        False,
        "Whether to write on values whose annotation each axis goes back to: that of an argument "
        "or a result of a function, of a sharding constraint, or of a manual computation.",
    )
    debug_propagation_edge_sharding: bool = option(
        False, "Whether to write on ops at which step each axis came, from which operand or result."
    )
    follow_composites: bool = option(
        False,
        "Whether to propagate through the decompositions of composites, into them and back.",
        in_shardy=False,
    )

    def run(self, module: IndexedModule) -> None:
        """Propagate, in place."""
        write_user_rules(module)
        with composites_followed(module) if self.follow_composites else nullcontext():
            self._propagate(module)

    def _propagate(self, module: IndexedModule) -> None:
        propagate_shardings(
            module,
            Schedule(
                strategies=self._strategies(),
                op_priorities=self._op_priorities(),
                user_priorities=self._user_priorities(),
                conservative=self.conservative_propagation,
                keep_rules=self.keep_sharding_rules,
            ),
            DebugOptions(self.debug_sharding_origins, self.debug_propagation_edge_sharding),
            self.module_dump_directory,
        )

    def _strategies(self) -> Sequence[Strategy]:
        return (Strategy.BASIC,)

    def _op_priorities(self) -> Sequence[int]:
        return OP_PRIORITIES[-1:]

    def _user_priorities(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class AggressivePropagate(BasicPropagate):
    """Propagates shardings and resolve conflicts.

    Where operands and results of an op disagree, the factor that comes from the larger tensor
    wins. That takes less memory, and may cost communication.
    """

    name: ClassVar[str] = "sdy-aggressive-propagate"

    propagation_strategy: str = option(
        "aggressive", "How conflicts are met: basic, aggressive, or basic-then-aggressive."
    )

    def __post_init__(self) -> None:
        """Check the strategy's name."""
        if self.propagation_strategy not in _STRATEGIES:
            raise Error(
                f"unknown propagation strategy '{self.propagation_strategy}', "
                f"expected one of {', '.join(_STRATEGIES)}"
            )

    def _strategies(self) -> Sequence[Strategy]:
        return _STRATEGIES[self.propagation_strategy]


@dataclass(frozen=True, slots=True)
class OpPriorityPropagate(AggressivePropagate):
    """Propagates shardings op by op, those that move no data first.

    Five rounds, each allowing more: elementwise ops and reshapes whose operands have one use;
    the same with any number of uses; all ops, along factors that pass through, broadcasts
    backward only; all factors; broadcasts forward.
    """

    name: ClassVar[str] = "sdy-op-priority-propagate"

    run_op_priority_propagation: bool = option(
        True, "Whether to go through the op priorities; otherwise all ops take part at once."
    )

    def _op_priorities(self) -> Sequence[int]:
        return OP_PRIORITIES if self.run_op_priority_propagation else OP_PRIORITIES[-1:]


@dataclass(frozen=True, slots=True)
class UserPriorityPropagate(OpPriorityPropagate):
    """Propagates shardings in the order of the priorities that users gave them.

    First dimensions of priority 0, which is that of all without one, then each greater one. In
    each round all op priorities run.
    """

    name: ClassVar[str] = "sdy-user-priority-propagate"

    def _user_priorities(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class PopulateOpShardingRules(Pass):
    """Gives every op that has a sharding rule that rule as its attribute, to be looked at."""

    name: ClassVar[str] = "sdy-populate-op-sharding-rules"
    anchor: ClassVar[str] = FUNCTION

    conservative_propagation: bool = option(
        False, "Whether to leave out rules by which shardings that are not divisible could spread."
    )

    def run(self, module: IndexedModule) -> None:
        """Set the attributes, in place."""
        write_user_rules(module)
        ops_by_name = module.ops_by_name
        warn_of_unknown_ops(ops_by_name, ops_by_name.__getitem__)
        for name, ops in ops_by_name.items():
            if name not in RULES:
                continue
            for op in ops:
                if SHARDING_RULE in op.attributes:
                    continue
                rule = RULES[name].build(op, self.conservative_propagation)
                if rule is not None:
                    op.attributes[SHARDING_RULE] = module.codec.rule_attribute(rule)
