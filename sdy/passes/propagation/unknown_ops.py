"""Warnings about ops that have no sharding rule and that nobody has thought of."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.diagnostics import warn
from sdy.ir.op_names import MODULE
from sdy.passes.propagation.rules.registry import RULES, unknown_op_warning
from sdy.passes.propagation.rules.user_rules import active_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from jaxlib.mlir import ir

__all__ = ["warn_of_unknown_ops"]

_CUSTOM_CALL = "stablehlo.custom_call"


def warn_of_unknown_ops(
    names: Iterable[str], ops_named: Callable[[str], Sequence[ir.Operation]]
) -> None:
    """Warn of each op or custom call target that is unknown, once, at its first place.

    Of a nested module, too, in which nothing propagates.
    What has a rule of its own as an attribute is known, and what a user registered a rule for.

    Args:
      names: of the ops, each once.
      ops_named: returns the ops of a name, in the order of the text.

    """
    for name in names:
        if name == MODULE:
            warn(ops_named(name)[0], "a nested module is left as it is")
        elif name == _CUSTOM_CALL:
            _warn_once_per_message(ops_named(name))
        elif name not in RULES:
            _warn_once_per_message(_first_without_rule(ops_named(name)))


def _first_without_rule(ops: Iterable[ir.Operation]) -> Iterator[ir.Operation]:
    return islice((op for op in ops if SHARDING_RULE not in op.attributes), 1)


def _warn_once_per_message(ops: Iterable[ir.Operation]) -> None:
    rules = active_rules()
    seen: set[str] = set()
    for op in ops:
        if SHARDING_RULE in op.attributes or (rules and rules.find(op)):
            continue
        message = unknown_op_warning(op)
        if message is not None and message not in seen:
            seen.add(message)
            warn(op, message)
