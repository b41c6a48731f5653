"""Attributes of numbered ops that passes set, of which MLIR is told when somebody may look.

To set an attribute of an op costs MLIR more than most passes cost otherwise, and several passes
set the same one, one after the other. A number stands for each distinct attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from sdy.ir.op_index import positions_of
from sdy.ir.rows import filled, largest
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from jaxlib.mlir import ir
    from librt.vecs import vec
    from mypy_extensions import i64

    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.structure import Structure

__all__ = ["NO_ATTRIBUTE", "LateRule", "OpAttributes"]

NO_ATTRIBUTE: Final = 0

_NOT_READ: Final = -1


@final
class LateRule:
    """A sharding rule that is made an attribute when somebody asks for that."""

    def __init__(self, rule: OpShardingRule, codec: AttributeCodec) -> None:
        self.rule = rule
        self._codec = codec

    def attribute(self) -> ir.Attribute:
        """Return the attribute."""
        return self._codec.rule_attribute(self.rule)


class _Column:
    """The attributes of one name.

    Attributes:
      name: the name.
      attributes: by their numbers; None stands for none.
      late_rules: those that are not made yet, by their numbers.
      numbers: the numbers of these.
      now: for each op the number of its attribute; `_NOT_READ` where MLIR is to be asked.
      told: the same as far as MLIR knows.

    """

    def __init__(self, name: str, now: vec[i64], told: vec[i64]) -> None:
        self.name = name
        self.attributes: list[ir.Attribute | None] = [None]
        self.late_rules: dict[int, LateRule] = {}
        self.numbers: dict[ir.Attribute | None, int] = {None: NO_ATTRIBUTE}
        self.now = now
        self.told = told

    def number(self, attribute: ir.Attribute | None) -> int:
        """Return the number of an attribute."""
        number = self.numbers.get(attribute)
        if number is None and self.late_rules:
            for late in list(self.late_rules):
                self.attribute(late)
            number = self.numbers.get(attribute)
        if number is None:
            number = self.numbers[attribute] = len(self.attributes)
            self.attributes.append(attribute)
        return number

    def late_number(self, rule: LateRule) -> int:
        """Return the number of a rule that no other op has, made late where it can be."""
        if len(self.numbers) > 1:
            return self.number(rule.attribute())
        number = len(self.attributes)
        self.attributes.append(None)
        self.late_rules[number] = rule
        return number

    def attribute(self, number: int) -> ir.Attribute | None:
        """Return the attribute of a number, made now where that was left for later."""
        if self.late_rules and number in self.late_rules:
            attribute = self.late_rules.pop(number).attribute()
            self.attributes[number] = attribute
            self.numbers[attribute] = number
        return self.attributes[number]

    def read(self, ops: list[ir.Operation], op: i64) -> i64:
        """Return the number of an op's attribute, as MLIR has it."""
        number: i64 = self.number(ops[op].attributes.get(self.name))
        self.now[op] = number
        self.told[op] = number
        return number

    def read_all(
        self, structure: Structure, ops: list[ir.Operation], erased: Iterable[int]
    ) -> None:
        """Ask MLIR for what is not read yet, once for all ops with equal attributes."""
        kinds, now, told = structure.attributes, self.now, self.told
        for gone in erased:
            now[gone] = NO_ATTRIBUTE
            told[gone] = NO_ATTRIBUTE
        of_kind = filled(_NOT_READ, largest(kinds) + 1)
        for op in range(len(now)):
            if now[op] != _NOT_READ:
                continue
            kind = kinds[op]
            number: i64 = NO_ATTRIBUTE
            if kind != NOTHING:
                number = of_kind[kind]
                if number == _NOT_READ:
                    number = of_kind[kind] = self.read(ops, op)
            now[op] = number
            told[op] = number

    def tell(self, ops: list[ir.Operation], op: i64) -> None:
        """Let MLIR know the attribute of an op."""
        number = self.now[op]
        attribute, attributes = self.attribute(number), ops[op].attributes
        if attribute is not None:
            attributes[self.name] = attribute
        elif self.name in attributes:
            del attributes[self.name]
        self.told[op] = number


class OpAttributes:
    """The attributes, other than properties, of the ops of a structure.

    The attributes of a name are read when they are first asked for. Up to then, nobody may have
    changed them since the structure was read.
    """

    def __init__(
        self, structure: Structure, ops: list[ir.Operation], erased: Collection[int]
    ) -> None:
        """Start with nothing changed.

        Args:
          structure: tells which ops had equal attributes.
          ops: by number.
          erased: those that are no more; may grow.

        """
        self._ops = ops
        self._structure = structure
        self._erased = erased
        self._columns: dict[str, _Column] = {}
        self._is_all_told = True
        self._renewed: set[int] = set()
        self._distinct_names: set[str] = set()

    def numbers(self, name: str) -> vec[i64]:
        """Return for each op the number of its attribute of that name."""
        return self._column(name).now

    def get(self, op: int, name: str) -> ir.Attribute | None:
        """Return an attribute of an op; None where it has none of that name."""
        column = self._column(name)
        return column.attribute(column.now[op])

    def late_rule(self, op: int, name: str) -> LateRule | None:
        """Return the rule that an op has as an attribute that is not made yet."""
        column = self._column(name)
        return column.late_rules.get(column.now[op])

    def drop_late_rules(self, name: str) -> None:
        """Drop the rules that are not made attributes yet."""
        column = self._column(name)
        now = column.now
        for op in range(len(now)):
            if column.late_rules and now[op] in column.late_rules:
                now[op] = NO_ATTRIBUTE
        column.late_rules.clear()

    def distinct(self, name: str, but_for: Collection[str]) -> list[ir.Attribute]:
        """Return the attributes of that name that ops have, each once."""
        column = self._column(name)
        now = self._without(column.now, but_for)
        is_found = filled(0, len(column.attributes))
        for op in range(len(now)):
            is_found[now[op]] = 1
        return [
            attribute
            for number in range(len(column.attributes))
            if is_found[number] and (attribute := column.attribute(number)) is not None
        ]

    def transform(
        self,
        name: str,
        change: Callable[[ir.Attribute], ir.Attribute | None],
        but_for: Collection[str],
    ) -> None:
        """Change the attributes of that name, each distinct one once.

        Args:
          name: of the attributes.
          change: returns what an attribute becomes; None where it is dropped.
          but_for: names of ops that are left out.

        """
        self._is_all_told = False
        column = self._column(name)
        now = self._without(column.now, but_for)
        changes = filled(_NOT_READ, len(column.attributes))
        changes[NO_ATTRIBUTE] = NO_ATTRIBUTE
        for op in range(len(now)):
            old = now[op]
            if changes[old] == _NOT_READ:
                attribute = column.attribute(old)
                assert attribute is not None, "NO_ATTRIBUTE stays"
                changes[old] = column.number(change(attribute))
            if changes[old] != old:
                column.now[op] = changes[old]

    def set(self, name: str, changes: Mapping[int, ir.Attribute | None]) -> None:
        """Set attributes of that name, or drop them, where they are None, without telling MLIR."""
        self._is_all_told = False
        column = self._column(name)
        now = column.now
        # The objects are alive up to the end.
        by_object: dict[int, int] = {}
        for op, attribute in changes.items():
            number = by_object.get(id(attribute))
            if number is None:
                number = by_object[id(attribute)] = column.number(attribute)
            now[op] = number

    def set_numbered(
        self, name: str, attributes: Sequence[ir.Attribute | LateRule], numbers: vec[i64]
    ) -> None:
        """Set attributes of that name without telling MLIR.

        Args:
          name: of the attributes.
          attributes: each once.
          numbers: for each op which of them; NOTHING where nothing changes.

        """
        self._is_all_told = False
        column = self._column(name)
        own = filled(NO_ATTRIBUTE, len(attributes))
        for place, attribute in enumerate(attributes):
            is_late = isinstance(attribute, LateRule)
            own[place] = column.late_number(attribute) if is_late else column.number(attribute)
        now = column.now
        for op in range(len(now)):
            if numbers[op] != NOTHING:
                now[op] = own[numbers[op]]

    def write(self) -> None:
        """Tell MLIR of all that it does not know yet."""
        if self._is_all_told:
            return
        self._is_all_told = True
        for name in self._columns:
            self.write_named(name)

    def write_named(self, name: str) -> None:
        """Tell MLIR of all attributes of a name that it does not know yet."""
        column = self._column(name)
        now, told = column.now, column.told
        for op in range(len(now)):
            if now[op] != told[op]:
                column.tell(self._ops, op)

    def write_some(self, ops: Iterable[int]) -> None:
        """Tell MLIR of what it does not know yet of some ops."""
        for column in self._columns.values():
            for op in ops:
                if column.now[op] != column.told[op]:
                    column.tell(self._ops, op)

    def forget(self, ops: Iterable[int]) -> None:
        """Forget what was set of ops that are about to be erased."""
        for column in self._columns.values():
            for op in ops:
                column.now[op] = NO_ATTRIBUTE
                column.told[op] = NO_ATTRIBUTE

    def renew(self, op: int) -> None:
        """Forget what was set of an op that gives way to another in the next structure."""
        self.forget((op,))
        self._renewed.add(op)

    def moved(
        self,
        structure: Structure,
        ops: list[ir.Operation],
        erased: Collection[int],
        numbers: vec[i64],
    ) -> OpAttributes:
        """Return what this tells by the numbers of another structure.

        Args:
          structure: the other.
          ops: by their numbers in it.
          erased: of these, those that are no more; may grow.
          numbers: for each number here that in the other; NOTHING for an op that is no more.

        """
        new = OpAttributes(structure, ops, erased)
        new._is_all_told = self._is_all_told
        for name, column in self._columns.items():
            for op in self._renewed:
                column.now[op] = _NOT_READ
            moved = _Column(
                name,
                _renumbered(column.now, numbers, len(ops)),
                _renumbered(column.told, numbers, len(ops)),
            )
            moved.attributes, moved.numbers = column.attributes, column.numbers
            moved.late_rules = column.late_rules
            moved.read_all(structure, ops, erased)
            new._columns[name] = moved
        return new

    def _column(self, name: str) -> _Column:
        column = self._columns.get(name)
        if column is None:
            count = len(self._ops)
            column = _Column(name, filled(_NOT_READ, count), filled(_NOT_READ, count))
            column.read_all(self._structure, self._ops, self._erased)
            self._columns[name] = column
        return column

    def _named(self, names: Collection[str]) -> list[int]:
        """Return the ops of some names."""
        if not self._distinct_names:
            self._distinct_names = set(self._structure.names)
        found: list[int] = []
        for name in names:
            if name in self._distinct_names:
                found += positions_of(name, self._structure.names)
        return found

    def _without(self, numbers: vec[i64], names: Collection[str]) -> vec[i64]:
        """Return numbers of attributes as if ops of some names had none."""
        left = numbers[:]
        for op in self._named(names):
            left[op] = NO_ATTRIBUTE
        return left


def _renumbered(column: vec[i64], numbers: vec[i64], count: int) -> vec[i64]:
    moved = filled(_NOT_READ, count)
    for op in range(len(column)):
        if numbers[op] != NOTHING:
            moved[numbers[op]] = column[op]
    return moved
