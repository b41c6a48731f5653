"""XLA's text of an `HloSharding`, read."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import (
    UnexpectedCharacters,
    UnexpectedInput,
    UnexpectedToken,
    VisitError,
)

from sdy.dialect.errors import ParseError
from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from lark.tree import Meta

__all__ = ["parse_hlo_sharding"]


def parse_hlo_sharding(text: str) -> HloSharding:
    """Return the sharding of XLA's text; see `HloSharding.parse`."""
    try:
        tree = _grammar().parse(text)
        sharding: HloSharding = _Builder().transform(tree)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    except VisitError as error:
        if isinstance(error.orig_exc, ParseError):
            raise error.orig_exc from None
        raise
    return sharding


@cache
def _grammar() -> Lark:
    return Lark.open("hlo_sharding.lark", rel_to=__file__, parser="lalr", propagate_positions=True)


def _syntax_error(text: str, error: UnexpectedInput) -> ParseError:
    if isinstance(error, UnexpectedCharacters):
        expected, found = error.allowed or set(), repr(error.char)
    elif isinstance(error, UnexpectedToken):
        expected = error.accepts or error.expected
        found = repr(str(error.token)) if error.token else "the end"
    else:
        raise error
    line, column = error.line, error.column
    if found == "the end":
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    names = sorted({_readable(name) for name in expected})
    return ParseError(f"found {found}, expected {' or '.join(names)}", line, column)


def _readable(terminal: str) -> str:
    if terminal == "$END":
        return "the end"
    if terminal in ("NUMBER", "SIGNED"):
        return "a number"
    if terminal == "KIND":
        return "manual, replicated or unreduced"
    [definition] = [t for t in _grammar().terminals if t.name == terminal]
    return repr(definition.pattern.value)


class _Builder(Transformer[Token, Any]):
    """Builds values from the tree; a value that cannot be is an error where it stands."""

    def start(self, children: list[HloSharding]) -> HloSharding:
        return children[0]

    def replicated(self, _: list[Any]) -> HloSharding:
        return HloSharding.replicated()

    def manual(self, _: list[Any]) -> HloSharding:
        return HloSharding.manual()

    def unreduced(self, _: list[Any]) -> HloSharding:
        return HloSharding.unreduced()

    def unknown(self, _: list[Any]) -> HloSharding:
        return HloSharding.unknown()

    def maximal(self, children: list[Token]) -> HloSharding:
        return HloSharding.maximal(int(children[0]))

    def tuple_of(self, children: list[HloSharding]) -> HloSharding:
        return HloSharding.tuple_of(children)

    @v_args(meta=True)
    def tiled(self, meta: Meta, children: list[Any]) -> HloSharding:
        dims, order, subgroups = children
        try:
            return HloSharding.tiled(_assignment(dims, *order), subgroups)
        except ValueError as error:
            raise ParseError(str(error), meta.line, meta.column) from None

    def dims(self, children: list[Token]) -> list[int]:
        return list(map(int, children))

    def counted(self, children: list[Token]) -> tuple[list[int], list[int], list[int]]:
        return [int(children[0])], [0], []

    def transposed(self, children: list[Any]) -> tuple[list[int], list[int], list[int]]:
        return children[0], list(map(int, children[1:])), []

    def listed(self, children: list[Token]) -> tuple[list[int], list[int], list[int]]:
        return [], [], list(map(int, children))

    def none(self, _: list[Any]) -> list[SubgroupKind]:
        return []

    def replicas(self, _: list[Any]) -> list[SubgroupKind]:
        return [SubgroupKind.REPLICATED]

    def kinds(self, children: list[SubgroupKind]) -> list[SubgroupKind]:
        return children

    def kind(self, children: list[Token]) -> SubgroupKind:
        return SubgroupKind(str(children[0]))


def _assignment(
    dims: list[int], reshape: list[int], transpose: list[int], ids: list[int]
) -> TileAssignment:
    if math.prod(dims) < 1:
        raise ValueError(f"{dims} has no place for a device")
    if reshape:
        return TileAssignment.iota(dims, reshape, transpose)
    if len(set(ids)) < len(ids):
        raise ValueError("a device is listed twice")
    return TileAssignment.listed(dims, ids)
