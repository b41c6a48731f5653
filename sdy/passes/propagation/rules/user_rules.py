"""Sharding rules of users: for custom calls, composites and ops, by name.

A registry maps names to rules. There is one for the process; `rule_scope` puts a copy in its
place for a while.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.dialect.einsum_rule import EinsumRule
from sdy.dialect.errors import Error
from sdy.dialect.sharding_rule import OpShardingRule
from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS
from sdy.ir.op_names import BARRIER, CALL, FUNC_EDGE, FUNCTION, GROUP, MESH, MODULE
from sdy.ir.op_traits import is_terminator
from sdy.passes.propagation.rules.custom_calls import has_target_rule
from sdy.passes.propagation.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["RuleRegistry", "UserRule", "active_rules", "label", "rule_scope"]

_NAME_ATTRIBUTES: Final = {
    "stablehlo.custom_call": "call_target_name",
    "stablehlo.composite": "name",
}
"""Ops that stand for others, and the attribute that names which."""

_STRUCTURE: Final = DATA_FLOW_OPS | {
    MODULE,
    CALL,
    FUNCTION,
    DATA_FLOW_EDGE,
    FUNC_EDGE,
    MESH,
    BARRIER,
    GROUP,
}
"""Ops through which shardings spread by other means than a rule, or not at all."""


@dataclass(frozen=True, slots=True)
class UserRule:
    """A rule as it was registered.

    Attributes:
      rule: the rule, or a function of the op that returns what `as_rule` takes, or None for no
        rule.
      reads: the attributes that a function depends on, besides the types of operands and
        results; None where it may depend on anything.

    """

    rule: EinsumRule | OpShardingRule | Callable[[ir.Operation], object]
    reads: tuple[str, ...] | None = ()

    def __str__(self) -> str:
        if isinstance(self.rule, EinsumRule | OpShardingRule):
            return f"sharding rule '{self.rule}'"
        return f"rule function '{getattr(self.rule, '__name__', self.rule)}'"


class RuleRegistry:
    """Rules by name of op, target of custom call or name of composite."""

    def __init__(self, rules: Mapping[str, UserRule] | None = None) -> None:
        self._rules = dict(rules or {})

    def __bool__(self) -> bool:
        return bool(self._rules)

    def copy(self) -> RuleRegistry:
        """Return a registry with the same rules."""
        return RuleRegistry(self._rules)

    def register(self, name: str, rule: UserRule, *, replace: bool = False) -> None:
        """Add a rule.

        Raises:
          Error: where ops of that name cannot have one, or have one already and `replace` is
            not set.

        """
        if name in _STRUCTURE or is_terminator(name):
            raise Error(f"'{name}' can have no sharding rule, it is structure of the program")
        known = None if replace else self._known(name)
        if known is not None:
            raise Error(f"'{name}' has {known} already; replace=True overrides it")
        self._rules[name] = rule

    def _known(self, name: str) -> str | None:
        if name in self._rules:
            return f"the {self._rules[name]}"
        return "a built-in sharding rule" if name in RULES or has_target_rule(name) else None

    def unregister(self, name: str) -> None:
        """Drop a rule; Error where none of that name was registered."""
        if name not in self._rules:
            known = ", ".join(sorted(self._rules)) or "none"
            raise Error(f"no sharding rule is registered for '{name}'; registered are: {known}")
        del self._rules[name]

    def op_names(self) -> list[str]:
        """Return the names of the ops that can have one of the rules."""
        return sorted({*self._rules, *_NAME_ATTRIBUTES})

    def find(self, op: ir.Operation) -> UserRule | None:
        """Return the rule of an op: by what it stands for, else by its own name."""
        meant = _meant(op)
        if meant in self._rules:
            return self._rules[meant]
        return self._rules.get(op.name)


def label(op: ir.Operation) -> str:
    """Return what messages call an op: what it stands for, or its name; and its types."""
    types = ir.FunctionType.get([v.type for v in op.operands], [v.type for v in op.results])
    kind = op.name.rpartition(".")[2].replace("_", " ")
    name = f"{kind} @{_meant(op)}" if op.name in _NAME_ATTRIBUTES else f"op '{op.name}'"
    return f"{name} : {types}"


def _meant(op: ir.Operation) -> str:
    """Return the name of what an op stands for; its own where it stands for nothing else."""
    attribute = _NAME_ATTRIBUTES.get(op.name)
    name: str = op.name if attribute is None else ir.StringAttr(op.attributes[attribute]).value
    return name


_process_rules: Final = RuleRegistry()
_scoped_rules: ContextVar[RuleRegistry] = ContextVar("sdy_rules")


def active_rules() -> RuleRegistry:
    """Return the registry that is in force."""
    return _scoped_rules.get(_process_rules)


@contextmanager
def rule_scope() -> Iterator[None]:
    """Undo at the end of a `with` block the registrations made in it.

    They hold in this thread, or asyncio task, only.
    """
    token = _scoped_rules.set(active_rules().copy())
    try:
        yield
    finally:
        _scoped_rules.reset(token)
