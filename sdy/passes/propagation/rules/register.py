"""How users register sharding rules, and the forms in which they may give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
    runtime_checkable,
)

from jaxlib.mlir import ir

from sdy.dialect.einsum_rule import EinsumRule
from sdy.dialect.errors import ArgumentTypeError, Error, check_type
from sdy.dialect.parser import parse_einsum_rule
from sdy.dialect.sharding_rule import OpShardingRule
from sdy.passes.propagation.rules.user_rules import UserRule, active_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JaxRule", "Rule", "RuleFunction", "as_rule", "register_rule", "unregister_rule"]

_JaxMappings: TypeAlias = tuple[tuple[str | tuple[str, ...], ...], ...]


@runtime_checkable
class JaxRule(Protocol):
    """What is used of a `jax.experimental.custom_partitioning.SdyShardingRule`.

    Each dimension of a mapping is a factor or a tuple of factors. A factor that starts with the
    character of an ellipsis stands for leading dimensions.
    """

    operand_mappings: _JaxMappings
    result_mappings: _JaxMappings
    factor_sizes: Mapping[str, int]
    reduction_factors: tuple[str, ...]
    need_replication_factors: tuple[str, ...]
    permutation_factors: tuple[str, ...]


Rule: TypeAlias = str | EinsumRule | OpShardingRule | JaxRule
RuleFunction: TypeAlias = Callable[[ir.Operation], Rule | None]
_F = TypeVar("_F", bound=RuleFunction)


@overload
def register_rule(
    name: str,
    rule: Rule | RuleFunction,
    *,
    reduction: Sequence[str] = ...,
    need_replication: Sequence[str] = ...,
    permutation: Sequence[str] = ...,
    blocked_propagation: Sequence[str] = ...,
    reads: Sequence[str] | None = ...,
    replace: bool = ...,
    **factor_sizes: int,
) -> None: ...


@overload
def register_rule(
    name: str, *, reads: Sequence[str] | None = ..., replace: bool = ...
) -> Callable[[_F], _F]: ...


def register_rule(
    name: str,
    rule: Rule | RuleFunction | None = None,
    *,
    reduction: Sequence[str] = (),
    need_replication: Sequence[str] = (),
    permutation: Sequence[str] = (),
    blocked_propagation: Sequence[str] = (),
    reads: Sequence[str] | None = None,
    replace: bool = False,
    **factor_sizes: int,
) -> Callable[[_F], _F] | None:
    """Register the sharding rule of custom calls, composites or ops.

    When propagation begins, each op of that name gets the rule as its `sdy.sharding_rule`, as if
    it stood in the program, and keeps it. An op that has one already keeps its own.

    Args:
      name: the target of custom calls, the name of composites, or the name of ops such as
        `dialect.op`, of a registered dialect or not.
      rule: text in the notation of JAX's `custom_partitioning`, such as `i j, j k -> i k`; an
        object that JAX made of one; an `OpShardingRule`; or a function that is given the op and
        returns one of these, or None for no rule. Left out, the decorator of such a function is
        returned.
      reduction: for text, the factors that must be summed over when they are split.
      need_replication: for text, those that may not be split when the op runs.
      permutation: for text, those that exchange data with their neighbours when they are split.
      blocked_propagation: for text, those along which shardings do not spread.
      reads: for functions, the attributes that they read, besides the types of operands and
        results: ops alike in these share one call. None: it may read anything.
      replace: whether to take the place of a rule that is known already.
      factor_sizes: for text, the sizes of factors that never are a whole dimension.

    Raises:
      Error: where the text is no rule, or a rule is known already, or ops of that name can have
        none, or where an argument is of the wrong type.

    """
    _check_name(name)
    read = _attribute_names(reads)
    of_text: dict[str, Any] = {
        "reduction": reduction,
        "need_replication": need_replication,
        "permutation": permutation,
        "blocked_propagation": blocked_propagation,
        **factor_sizes,
    }
    if isinstance(rule, str):
        rule = parse_einsum_rule(rule, **of_text)
    elif given := next((option for option, value in of_text.items() if value), None):
        raise Error(f"'{given}' is for rules that are given as text")
    if rule is None:
        return _decorator(name, read, replace=replace)
    if callable(rule):
        user_rule = UserRule(rule, read)
    elif read is not None:
        raise Error("'reads' is for functions")
    else:
        user_rule = UserRule(as_rule(rule))
    active_rules().register(name, user_rule, replace=replace)
    return None


def _check_name(name: str) -> None:
    """Raise an error where no op, custom call or composite is called so."""
    check_type(name, str, "name", "a str")
    if not name or not name.isprintable() or " " in name:
        raise Error(f"name: expected one without spaces, such as 'my_matmul', got {name!r}")


def _attribute_names(reads: Sequence[str] | None) -> tuple[str, ...] | None:
    if reads is None:
        return None
    expected = "a tuple of names of attributes, such as ('dimension',)"
    if isinstance(reads, str):
        raise ArgumentTypeError(f"reads: expected {expected}, got {reads!r}")
    check_type(reads, Iterable, "reads", expected)
    for each in reads:
        check_type(each, str, "reads", expected)
    return tuple(reads)


def _decorator(name: str, reads: Sequence[str] | None, *, replace: bool) -> Callable[[_F], _F]:
    def decorate(function: _F) -> _F:
        register_rule(name, function, reads=reads, replace=replace)
        return function

    return decorate


def unregister_rule(name: str) -> None:
    """Drop the rule registered under a name; a built-in one that it replaced counts again.

    Raises:
      Error: where none was registered.

    """
    active_rules().unregister(name)


def as_rule(rule: object) -> EinsumRule | OpShardingRule:
    """Return as one of our values a rule in any of its forms.

    Raises:
      Error: where it is no rule.

    """
    if isinstance(rule, str):
        return parse_einsum_rule(rule)
    if isinstance(rule, EinsumRule | OpShardingRule):
        rule.verify()
        return rule
    if isinstance(rule, JaxRule):
        sides = (rule.operand_mappings, rule.result_mappings)
        options: dict[str, Any] = {
            "reduction": rule.reduction_factors,
            "need_replication": rule.need_replication_factors,
            "permutation": rule.permutation_factors,
            **rule.factor_sizes,
        }
        text = " -> ".join(", ".join(map(_tensor_text, side)) for side in sides)
        return parse_einsum_rule(text, **options)
    raise Error(f"expected a sharding rule, got {rule!r}")


def _tensor_text(mapping: tuple[str | tuple[str, ...], ...]) -> str:
    """Return the text of one tensor of JAX's rules."""
    return " ".join(
        factors.replace("\N{HORIZONTAL ELLIPSIS}", "...")
        if isinstance(factors, str)
        else f"({' '.join(factors)})"
        for factors in mapping
    )
