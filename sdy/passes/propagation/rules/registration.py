"""How a family of ops declares the rules of its ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["RuleEntry", "conservative_rule", "registered_rules", "rule"]

Builder: TypeAlias = "Callable[[ir.Operation], OpShardingRule | None]"
ConservativeBuilder: TypeAlias = "Callable[[ir.Operation, bool], OpShardingRule | None]"
Beyond: TypeAlias = "Callable[[ir.Operation], Hashable]"


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """How to build the rule of an op of one name, and what that rule depends on.

    Two ops of that name have equal rules if they have the same operand and result types, the
    same attributes `reads`, and the same `beyond(op)`.

    Attributes:
      build: takes an op and whether propagation is conservative; returns the op's rule, or None
        where it has none. Conservative: no dimension may be sharded unevenly on the way.
      reads: the names of the op's inherent attributes that the rule depends on.
      beyond: returns what the rule depends on besides types and attributes: regions, the
        producers of operands, the users of results.

    """

    build: ConservativeBuilder
    reads: tuple[str, ...] = ()
    beyond: Beyond | None = None


_entries: dict[str, RuleEntry] = {}


def rule(
    *names: str, reads: tuple[str, ...] = (), beyond: Beyond | None = None
) -> Callable[[Builder], Builder]:
    """Register a function that builds the rule of the ops called `names` from the op alone."""

    def register(build: Builder) -> Builder:
        _add(names, RuleEntry(lambda op, _: build(op), reads, beyond))
        return build

    return register


def conservative_rule(
    *names: str, reads: tuple[str, ...] = (), beyond: Beyond | None = None
) -> Callable[[ConservativeBuilder], ConservativeBuilder]:
    """Register a function whose rules differ where propagation is conservative."""

    def register(build: ConservativeBuilder) -> ConservativeBuilder:
        _add(names, RuleEntry(build, reads, beyond))
        return build

    return register


def registered_rules() -> Mapping[str, RuleEntry]:
    """Return the entries of all families that have been imported, by op name."""
    return _entries


def _add(names: tuple[str, ...], entry: RuleEntry) -> None:
    for name in names:
        if name in _entries:
            raise ValueError(f"two rules for op '{name}'")
        _entries[name] = entry
