"""Constant sub-computations of one region, and copies of them for their users."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir
from librt.vecs import append
from mypy_extensions import i64

from sdy.ir.constants import ConstantCopies
from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.op_names import CALL, GROUP, SDY_CONSTANT
from sdy.ir.op_traits import ERASABLE, is_elementwise, is_elementwise_op, is_terminator
from sdy.ir.rows import filled, packed_range
from sdy.ir.structure import NOTHING
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from librt.vecs import vec

    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.structure import Structure
    from sdy.ir.structure_edit import StructureEdit
    from sdy.passes.import_pipeline.constant_functions import Functions

__all__ = ["Marks", "RegionSplitter"]

_STABLEHLO_CONSTANT = "stablehlo.constant"
_IOTA = "stablehlo.iota"
_BROADCAST = "stablehlo.broadcast_in_dim"
_BITCAST = "stablehlo.bitcast_convert"
_WITHOUT_OPERANDS = frozenset({SDY_CONSTANT, _STABLEHLO_CONSTANT, _IOTA})
_PRESERVING = frozenset({_BROADCAST, "stablehlo.reshape", "stablehlo.slice"})
_WITH_BODY = frozenset({CALL, NAMED_COMPUTATION})
NAMES_LOOKED_AT = _WITHOUT_OPERANDS | _WITH_BODY | {_BITCAST, _BROADCAST, GROUP}
"""Names of ops that are constants or may be expressions whatever their operands are, or matter
to expressions otherwise."""


_NumberedValue: TypeAlias = "tuple[ir.Value, int]"


class Marks:
    """What is known of the ops and values of a whole module, by number, while it is split.

    Attributes:
      is_visited: for each op whether it must be looked at: 1 or 0.
      expressions: for each value the number of the expression in its region that gives it;
        NOTHING for others.

    """

    def __init__(self, structure: Structure) -> None:
        """Mark the ops that their name alone does not decide."""
        names = structure.names
        is_looked_at = {name: i64(name in NAMES_LOOKED_AT) for name in set(names)}
        self.is_visited = filled(0, len(names))
        for number in range(i64(len(names))):
            self.is_visited[number] = is_looked_at[names[number]]
        self.expressions = filled(NOTHING, len(structure.types))


class _Expression:
    """An op that is a constant expression or a broadcast of a scalar.

    Attributes:
      number: of the op in the module's structure.
      name: of the op.
      op: the op; for a `stablehlo.constant` the `sdy.constant` in its place.
      is_constant: whether it is a constant expression.
      uses: how many uses all its results have, those by sharding groups not counted.
      groups: the numbers of the sharding groups that have a result as a member.
      is_private: whether it has one use and so has all that is copied with it: the copy would
        take the place of the original and nothing would have changed.

    """

    __slots__ = ("groups", "is_constant", "is_private", "name", "number", "op", "uses")

    def __init__(self, number: i64, name: str, op: ir.Operation, *, is_constant: bool) -> None:
        self.number: i64 = number
        self.name = name
        self.op = op
        self.is_constant = is_constant
        self.uses: i64 = 0
        self.groups: tuple[int, ...] = ()
        self.is_private = False


class RegionSplitter:
    """Splits the constant expressions of one region.

    Values and ops are known by their numbers in the structure that the module had before. The
    result of a constant is known under the number of the `stablehlo.constant` that it came from;
    that op is erased last.
    """

    def __init__(
        self,
        module: IndexedModule,
        edit: StructureEdit,
        marks: Marks,
        functions: Functions,
        function: str,
        computation: str | None,
    ) -> None:
        """Start on the body of `function`, or of the named computation in it."""
        self._structure = module.structure
        self._edit = edit
        self._marks = marks
        self._ops = module.numbered_ops
        self._functions = functions
        self._function = function
        self._computation = computation
        self._expressions: list[_Expression] = []
        self._users = packed_range(0, 0)
        self._uses = packed_range(0, 0)
        self._constants = ConstantCopies(SDY_CONSTANT)
        self._old_constants: list[ir.Operation] = []
        self._scalar_types: dict[int, bool] = {}

    def split(self, numbers: vec[i64]) -> None:
        """Split the expressions in the region, where uses are in the reverse order of the text.

        Args:
          numbers: of the ops in the region.

        """
        self._find(numbers)
        for expression in self._expressions:
            expression.is_private = self._is_private(expression)
        for index in range(i64(len(self._uses))):
            self._split_use(self._users[index], self._uses[index])
        for expression in reversed(self._expressions):
            self._erase_if_unused(expression)
        for op in self._old_constants:
            op.erase()

    # Finding the expressions and their uses.

    def _find(self, numbers: vec[i64]) -> None:
        names, is_visited = self._structure.names, self._marks.is_visited
        for index in range(i64(len(numbers))):
            name = names[numbers[index]]
            if not (name in NAMES_LOOKED_AT or _preserves_by_name(name) or is_terminator(name)):
                self._mark_as_non_constant()
                break
        for index in range(i64(len(numbers))):
            number = numbers[index]
            if is_visited[number]:
                self._visit(number, names[number])

    def _add(self, number: i64, name: str, op: ir.Operation, *, is_constant: bool) -> None:
        structure, marks = self._structure, self._marks
        results, users = structure.results, structure.users
        for place in range(results.starts[number], results.starts[number + 1]):
            result = results.items[place]
            marks.expressions[result] = len(self._expressions)
            for use in range(users.starts[result], users.starts[result + 1]):
                marks.is_visited[users.items[use]] = 1
        self._expressions.append(_Expression(number, name, op, is_constant=is_constant))

    def _expression_of(self, value: i64) -> _Expression | None:
        index = self._marks.expressions[value]
        return None if index == NOTHING else self._expressions[index]

    def _operands(self, expression: _Expression) -> tuple[int, ...]:
        return self._structure.operands[expression.number]

    def _visit(self, number: i64, name: str) -> None:
        """Count the uses of expressions by an op; note it if it is one itself."""
        op = self._ops[number]
        if name == _STABLEHLO_CONSTANT:
            self._add(number, SDY_CONSTANT, self._converted(number, op), is_constant=True)
            return
        if name in _WITHOUT_OPERANDS:
            self._add(number, name, op, is_constant=True)
            return
        operands = self._structure.operands
        start, end = operands.starts[number], operands.starts[number + 1]
        if name == GROUP:
            member = self._expression_of(operands.items[start])
            if member is not None:
                member.groups += (number,)
            return
        is_constant = self._preserves_constants(name, op)
        if not is_constant and name in NAMES_LOOKED_AT:
            self._mark_as_non_constant()
        for place in range(start, end):
            expression = self._expression_of(operands.items[place])
            if expression is None:
                is_constant = False
            else:
                expression.uses += 1
                is_constant = is_constant and expression.is_constant
        if is_constant or (name == _BROADCAST and self._is_scalar(operands.items[start])):
            self._add(number, name, op, is_constant=is_constant)
            return
        for place in range(start, end):
            if self._marks.expressions[operands.items[place]] != NOTHING:
                self._users = append(self._users, number)
                self._uses = append(self._uses, place)

    def _converted(self, number: i64, old: ir.Operation) -> ir.Operation:
        """Put an `sdy.constant` in the place of a `stablehlo.constant`."""
        structure = self._structure
        result = structure.results.items[structure.results.starts[number]]
        key = structure.attributes[number], structure.properties[number], structure.types[result]
        new = self._constants.copy(old, key)
        old.result.replace_all_uses_with(new.result)
        self._old_constants.append(old)
        self._edit.replace(number, SDY_CONSTANT, new)
        if structure.users.length(result) > 1:
            # As dialect conversion does.
            self._edit.uses.reverse(result)
        return new

    def _preserves_constants(self, name: str, op: ir.Operation) -> bool:
        """Return whether an op that is no constant has constant results for constant operands."""
        if name == CALL:
            return self._functions.is_constant_call(op)
        if name == NAMED_COMPUTATION:
            computation = ir.StringAttr(op.attributes["name"]).value
            return computation not in self._functions.non_constant_computations
        if name == _BITCAST:
            return is_elementwise_op(op)
        return _preserves_by_name(name)

    def _mark_as_non_constant(self) -> None:
        self._functions.non_constant.add(self._function)
        if self._computation is not None:
            self._functions.non_constant_computations.add(self._computation)

    def _is_scalar(self, value: i64) -> bool:
        kind = self._structure.types[value]
        known = self._scalar_types.get(kind)
        if known is None:
            user = self._structure.users[value][0]
            position = self._structure.operands[user].index(value)
            type_ = self._ops[user].operands[position].type
            known = self._scalar_types[kind] = is_scalar(type_)
        return known

    def _is_private(self, expression: _Expression) -> bool:
        if expression.uses != 1 or expression.groups or expression.name in _WITH_BODY:
            return False
        operands = self._structure.operands
        number = expression.number
        for place in range(operands.starts[number], operands.starts[number + 1]):
            if not self._is_used_once(operands.items[place]):
                return False
        return True

    def _is_used_once(self, operand: i64) -> bool:
        definition = self._expression_of(operand)
        if definition is None:
            return self._structure.users.length(operand) == 1
        return definition.is_private or (definition.uses == 1 and self._is_scalar(operand))

    # Splitting.

    def _split_use(self, user: i64, place: i64) -> None:
        """Split the use that is at that place among all operands."""
        operands = self._structure.operands
        value = operands.items[place]
        position = place - operands.starts[user]
        expression = self._expressions[self._marks.expressions[value]]
        if self._is_scalar(value):
            if expression.uses > 1:
                # It stays the same value, yet this becomes its newest use.
                self._ops[user].operands[position] = self._value(expression, value)
                self._edit.set_operand(user, position, value)
        elif not expression.is_private:
            copy, number = self._copy(value)
            self._ops[user].operands[position] = copy
            self._edit.set_operand(user, position, number)
            expression.uses -= 1

    def _value(self, expression: _Expression, number: int) -> ir.Value:
        """Return the result of that number of an expression."""
        results = self._structure.results[expression.number]
        return expression.op.results[results.index(number)]

    def _copy(self, root: int) -> _NumberedValue:
        """Copy the op of `root` and all that it is computed from, but for scalars."""
        copies: dict[int, _NumberedValue] = {}
        # With a list in place of recursion, as expressions may be deeper than Python's stack.
        pending = [(root, iter(self._operands_of(root)))]
        while pending:
            value, operands = pending[-1]
            operand = next((v for v in operands if self._is_copied(v) and v not in copies), None)
            if operand is not None:
                pending.append((operand, iter(self._operands_of(operand))))
            else:
                pending.pop()
                self._copy_op(value, copies)
        return copies[root]

    def _operands_of(self, value: int) -> tuple[int, ...]:
        return self._operands(self._expressions[self._marks.expressions[value]])

    def _is_copied(self, operand: int) -> bool:
        return self._marks.expressions[operand] != NOTHING and not self._is_scalar(operand)

    def _copy_op(self, value: int, copies: dict[int, _NumberedValue]) -> None:
        expression = self._expressions[self._marks.expressions[value]]
        place = ir.InsertionPoint(expression.op)
        copy = expression.op.clone(ip=place).operation
        operands = list(self._operands(expression))
        for position, operand in enumerate(self._operands(expression)):
            used = self._expression_of(operand)
            if operand in copies:
                copy.operands[position], operands[position] = copies[operand]
            elif used is not None:
                used.uses += 1
        number = self._edit.copy(
            expression.number,
            expression.number,
            operands,
            copy,
            has_own_properties=expression.name == CALL,
        )
        results = self._structure.results[expression.number]
        new_values = zip(copy.results, range(number, number + len(results)), strict=True)
        copies.update(zip(results, new_values, strict=True))
        if expression.name == CALL:
            self._functions.clone_callee(copy)
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        if expression.groups:
            self._copy_groups(expression, value, copies[value])

    def _copy_groups(self, expression: _Expression, value: int, copy: _NumberedValue) -> None:
        """Make a copy of a value a member of the sharding groups of that value."""
        number_of = {self._ops[group]: group for group in expression.groups}
        for group in _sharding_groups(self._value(expression, value)):
            member = group.clone(ip=ir.InsertionPoint(expression.op)).operation
            member.operands[0] = copy[0]
            self._edit.copy(number_of[group], expression.number, (copy[1],), member)

    def _erase_if_unused(self, expression: _Expression) -> None:
        if expression.uses:
            return
        for operand in self._operands(expression):
            used = self._expression_of(operand)
            if used is not None:
                used.uses -= 1
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        for group in expression.groups:
            self._ops[group].erase()
            self._edit.erase(group)
        expression.op.erase()
        self._edit.erase(expression.number)


@cache
def _preserves_by_name(name: str) -> bool:
    """Return whether ops of that name, if no constants, keep constant operands constant."""
    return name in _PRESERVING or (is_elementwise(name) and name in ERASABLE)


def _sharding_groups(value: ir.Value) -> list[ir.Operation]:
    users = [use.owner.operation for use in value.uses]
    return [user for user in users if user.name == GROUP]
