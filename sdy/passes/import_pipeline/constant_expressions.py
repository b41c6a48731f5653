"""Constant sub-computations of one region, and copies of them for their users."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.ir.constants import ConstantCopies
from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.op_names import CALL, GROUP, SDY_CONSTANT
from sdy.ir.op_traits import ERASABLE, is_elementwise, is_elementwise_op, is_terminator
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule, NamedOp
    from sdy.ir.structure_edit import StructureEdit
    from sdy.passes.import_pipeline.constant_functions import Functions

__all__ = ["NAMES_LOOKED_AT", "RegionSplitter"]

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


_NumberedValue: TypeAlias = tuple[ir.Value, int]


class _Expression:
    """An op that is a constant expression or a broadcast of a scalar.

    Attributes:
      number: of the op in the module's structure.
      name: of the op.
      op: the op; for a `stablehlo.constant` the `sdy.constant` in its place.
      operands: the numbers of its operands.
      is_constant: whether it is a constant expression.
      uses: how many uses all its results have, those by sharding groups not counted.
      groups: the numbers of the sharding groups that have a result as a member.
      is_private: whether it has one use and so has all that is copied with it: the copy would
        take the place of the original and nothing would have changed.
      copies: the copies that stand before the op.

    """

    __slots__ = (
        "copies",
        "groups",
        "is_constant",
        "is_private",
        "name",
        "number",
        "op",
        "operands",
        "uses",
    )

    def __init__(
        self,
        number: int,
        name: str,
        op: ir.Operation,
        operands: tuple[int, ...],
        *,
        is_constant: bool,
    ) -> None:
        self.number = number
        self.name = name
        self.op = op
        self.operands = operands
        self.is_constant = is_constant
        self.uses = 0
        self.groups: tuple[int, ...] = ()
        self.is_private = False
        self.copies: list[NamedOp] = []


class RegionSplitter:
    """Splits the constant expressions of one region.

    Values and ops are known by their numbers in the structure that the module had before. The
    result of a constant is known under the number of the `stablehlo.constant` that it came from;
    that op is erased last.

    Attributes:
      replacements: for numbers of ops, what stands there after the split.
      reordered: values whose uses may not be in the reverse order of the text after the split.

    """

    def __init__(
        self,
        module: IndexedModule,
        edit: StructureEdit,
        functions: Functions,
        function: str,
        computation: str | None,
    ) -> None:
        """Start on the body of `function`, or of the named computation in it."""
        self.replacements: dict[int, list[NamedOp]] = {}
        self.reordered: set[int] = set()
        self._structure = module.structure
        self._edit = edit
        self._ops = module.numbered_ops
        self._functions = functions
        self._function = function
        self._computation = computation
        self._by_value: dict[int, _Expression] = {}
        self._expressions: list[_Expression] = []
        self._uses: list[tuple[int, int, int]] = []
        self._constants = ConstantCopies(SDY_CONSTANT)
        self._old_constants: list[ir.Operation] = []
        self._scalar_types: dict[int, bool] = {}

    def split(self, numbers: Sequence[int], is_visited: bytearray) -> None:
        """Split the expressions in the region, where uses are in the reverse order of the text.

        Args:
          numbers: of the ops in the region.
          is_visited: for each op of the module whether it is one that its name alone does not
            decide; becomes true for the users of expressions.

        """
        self._find(numbers, is_visited)
        for expression in self._expressions:
            expression.is_private = self._is_private(expression)
        for user, operand, value in self._uses:
            self._split_use(user, operand, value)
        for expression in self._expressions:
            if expression.copies:
                self.replacements[expression.number] = [
                    *expression.copies,
                    (expression.name, expression.op),
                ]
        for expression in reversed(self._expressions):
            self._erase_if_unused(expression)
        for op in self._old_constants:
            op.erase()

    # Finding the expressions and their uses.

    def _find(self, numbers: Sequence[int], is_visited: bytearray) -> None:
        names = self._structure.names
        other_names = {names[number] for number in numbers} - NAMES_LOOKED_AT
        if not all(_preserves_by_name(name) or is_terminator(name) for name in other_names):
            self._mark_as_non_constant()
        for number in numbers:
            if is_visited[number]:
                expression = self._visit(number, names[number])
                if expression is not None:
                    self._add(expression, is_visited)

    def _add(self, expression: _Expression, is_visited: bytearray) -> None:
        self._expressions.append(expression)
        users = self._structure.users
        for result in self._structure.results[expression.number]:
            self._by_value[result] = expression
            for user in users[result]:
                is_visited[user] = True

    def _visit(self, number: int, name: str) -> _Expression | None:
        """Count the uses of expressions by an op; return it if it is one itself."""
        op = self._ops[number]
        if name == _STABLEHLO_CONSTANT:
            return _Expression(
                number, SDY_CONSTANT, self._converted(number, op), (), is_constant=True
            )
        if name in _WITHOUT_OPERANDS:
            return _Expression(number, name, op, (), is_constant=True)
        operands = self._structure.operands[number]
        known = [self._by_value.get(operand) for operand in operands]
        if name == GROUP:
            if known[0] is not None:
                known[0].groups += (number,)
            return None
        is_constant = self._preserves_constants(name, op)
        if not is_constant and name in NAMES_LOOKED_AT:
            self._mark_as_non_constant()
        for expression in known:
            if expression is None:
                is_constant = False
            else:
                expression.uses += 1
                is_constant = is_constant and expression.is_constant
        if is_constant or (name == _BROADCAST and self._is_scalar(operands[0])):
            return _Expression(number, name, op, operands, is_constant=is_constant)
        for position, expression in enumerate(known):
            if expression is not None:
                self._uses.append((number, position, operands[position]))
        return None

    def _converted(self, number: int, old: ir.Operation) -> ir.Operation:
        """Put an `sdy.constant` in the place of a `stablehlo.constant`."""
        structure = self._structure
        (result,) = structure.results[number]
        key = structure.attributes[number], structure.properties[number], structure.types[result]
        new = self._constants.copy(old, key)
        # This reverses the order of uses, as dialect conversion does.
        old.result.replace_all_uses_with(new.result)
        self._old_constants.append(old)
        self._edit.rename(number, SDY_CONSTANT)
        if len(structure.users[result]) > 1:
            self.reordered.add(result)
        self.replacements[number] = [(SDY_CONSTANT, new)]
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

    def _is_scalar(self, value: int) -> bool:
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
        return all(map(self._is_used_once, expression.operands))

    def _is_used_once(self, operand: int) -> bool:
        definition = self._by_value.get(operand)
        if definition is None:
            return len(self._structure.users[operand]) == 1
        return definition.is_private or (definition.uses == 1 and self._is_scalar(operand))

    # Splitting.

    def _split_use(self, user: int, position: int, value: int) -> None:
        expression = self._by_value[value]
        if self._is_scalar(value):
            if expression.uses > 1:
                # It stays the same value, yet this becomes its newest use.
                self._ops[user].operands[position] = self._value(value)
                self.reordered.add(value)
        elif not expression.is_private:
            copy, number = self._copy(value)
            self._ops[user].operands[position] = copy
            self._edit.set_operand(user, position, number)
            expression.uses -= 1

    def _value(self, number: int) -> ir.Value:
        """Return the result of an expression."""
        expression = self._by_value[number]
        results = self._structure.results[expression.number]
        return expression.op.results[results.index(number)]

    def _copy(self, root: int) -> _NumberedValue:
        """Copy the op of `root` and all that it is computed from, but for scalars."""
        copies: dict[int, _NumberedValue] = {}
        # With a list in place of recursion, as expressions may be deeper than Python's stack.
        pending = [(root, iter(self._by_value[root].operands))]
        while pending:
            value, operands = pending[-1]
            operand = next((v for v in operands if self._is_copied(v) and v not in copies), None)
            if operand is not None:
                pending.append((operand, iter(self._by_value[operand].operands)))
            else:
                pending.pop()
                self._copy_op(value, copies)
        return copies[root]

    def _is_copied(self, operand: int) -> bool:
        return operand in self._by_value and not self._is_scalar(operand)

    def _copy_op(self, value: int, copies: dict[int, _NumberedValue]) -> None:
        expression = self._by_value[value]
        place = ir.InsertionPoint(expression.op)
        copy = expression.op.clone(ip=place).operation
        expression.copies.append((expression.name, copy))
        operands = list(expression.operands)
        for position, operand in enumerate(expression.operands):
            if operand in copies:
                copy.operands[position], operands[position] = copies[operand]
                continue
            self.reordered.add(operand)
            if operand in self._by_value:
                self._by_value[operand].uses += 1
        numbers = self._edit.copy(
            expression.number,
            expression.number,
            operands,
            has_own_properties=expression.name == CALL,
        )
        results = self._structure.results[expression.number]
        new_values = zip(copy.results, numbers, strict=True)
        copies.update(zip(results, new_values, strict=True))
        if expression.name == CALL:
            self._functions.clone_callee(copy)
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        if expression.groups:
            self._copy_groups(expression, value, copies[value])

    def _copy_groups(self, expression: _Expression, value: int, copy: _NumberedValue) -> None:
        """Make a copy of a value a member of the sharding groups of that value."""
        number_of = {self._ops[group]: group for group in expression.groups}
        for group in _sharding_groups(self._value(value)):
            member = group.clone(ip=ir.InsertionPoint(expression.op)).operation
            member.operands[0] = copy[0]
            expression.copies.append((GROUP, member))
            self._edit.copy(number_of[group], expression.number, (copy[1],))

    def _erase_if_unused(self, expression: _Expression) -> None:
        if expression.uses:
            return
        for operand in expression.operands:
            if operand in self._by_value:
                self._by_value[operand].uses -= 1
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        self.replacements[expression.number] = expression.copies
        for group in expression.groups:
            self.replacements[group] = []
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
