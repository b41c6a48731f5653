"""Sharding rules from their einsum-like text: the values that `einsum_rule.lark` spells."""

from __future__ import annotations

from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from sdy.dialect.einsum_rule import EinsumTensor
from sdy.dialect.syntax_errors import syntax_error

__all__ = ["read_einsum_rule"]

Sides = tuple[tuple[EinsumTensor, ...], tuple[EinsumTensor, ...]]

_TERMINALS = {"FACTOR": "a factor such as i", "ELLIPSIS": "'...'"}


def read_einsum_rule(text: str) -> Sides:
    """Return operands and results of the rule that `text` spells; ParseError where it is none."""
    try:
        sides: Any = _parser().parse(text)
    except UnexpectedInput as error:
        raise syntax_error(text, error, _parser(), _TERMINALS) from None
    operands, results = sides
    return operands, results


@cache
def _parser() -> Lark:
    return Lark.open_from_package(
        "sdy.dialect",
        "einsum_rule.lark",
        parser="lalr",
        start="rule",
        maybe_placeholders=True,
        transformer=_Rules(),
    )


# The methods of a lark transformer bear the names of the grammar's rules.
@v_args(inline=True)
class _Rules(Transformer[Token, Any]):
    """Builds the rule while the parser runs."""

    def dimension(self, *factors: Token) -> tuple[str, ...]:
        return tuple(map(str, factors))

    def tensor(self, ellipsis: Token | None, *dimensions: tuple[str, ...]) -> EinsumTensor:
        return EinsumTensor(dimensions, None if ellipsis is None else _group(ellipsis))

    def tensors(self, *tensors: EinsumTensor) -> tuple[EinsumTensor, ...]:
        return tensors

    def rule(self, operands: tuple[EinsumTensor, ...], results: tuple[EinsumTensor, ...]) -> Sides:
        return operands, results


def _group(ellipsis: Token) -> str:
    """Return which dimensions `...7` stands for: those of `...0` are those of `...`."""
    return ellipsis.removeprefix("...").lstrip("0")
