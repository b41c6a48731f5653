"""Constant sub-computations of one region, and copies of them for their users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.call_graph import callee_name, clone_function, original_function_name, set_callee
from sdy.ir.constants import copy_constant_as
from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.op_names import CALL, GROUP, SDY_CONSTANT
from sdy.ir.op_traits import ERASABLE, is_elementwise, is_elementwise_op, is_terminator
from sdy.ir.types import is_scalar
from sdy.ir.values import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.ir.indexed_module import NamedOp
    from sdy.ir.symbols import SymbolNames

__all__ = ["Functions", "RegionSplitter"]

_STABLEHLO_CONSTANT = "stablehlo.constant"
_IOTA = "stablehlo.iota"
_BROADCAST = "stablehlo.broadcast_in_dim"
_BITCAST = "stablehlo.bitcast_convert"
_WITHOUT_OPERANDS = frozenset({SDY_CONSTANT, _STABLEHLO_CONSTANT, _IOTA})
_PRESERVING = frozenset({_BROADCAST, "stablehlo.reshape", "stablehlo.slice"})
_WITH_BODY = frozenset({CALL, NAMED_COMPUTATION})
# What these are cannot be told from their names.
_LOOKED_AT = _WITH_BODY | {_BITCAST, _BROADCAST, GROUP}


class Functions:
    """What is known of the functions and named computations of a module.

    Attributes:
      non_constant: the functions with an op that is not constant for constant operands, by
        the name of the original where a function is a copy.
      non_constant_computations: the same for named computations.
      has_changed_bodies: whether a named computation was copied or erased.

    """

    def __init__(
        self, by_name: dict[str, ir.Operation], names: SymbolNames, module: ir.Module
    ) -> None:
        self.non_constant: set[str] = set()
        self.non_constant_computations: set[str] = set()
        self.has_changed_bodies = False
        self._by_name = by_name
        self._count = len(module.body.operations)
        self._names = names
        self._module = module

    def is_constant_call(self, call: ir.Operation) -> bool:
        """Return whether a call has constant results where it has constant operands."""
        callee = self._by_name[callee_name(call)]
        return original_function_name(callee) not in self.non_constant

    def clone_callee(self, call: ir.Operation) -> None:
        """Let a call call a copy of its callee."""
        callee = self._by_name[callee_name(call)]
        end = ir.InsertionPoint(self._module.body)
        set_callee(call, clone_function(callee, self._by_name, self._names, end))

    def cloned_ops(self) -> list[NamedOp]:
        """Return the names and ops of the copies and of all in them, in text order."""
        cloned = [op.operation for op in self._module.body.operations][self._count :]
        return [(op.name, op) for root in cloned for op in (root, *operations(root))]


@dataclass(slots=True, eq=False)
class _Expression:
    """An op that is a constant expression or a broadcast of a scalar.

    Attributes:
      position: of the op in the text.
      name: of the op.
      op: the op.
      operands: its operands.
      is_constant: whether it is a constant expression.
      uses: how many uses all its results have, those by sharding groups not counted.
      groups: the sharding groups that have a result as a member, with their positions.
      is_private: whether it has one use and so has all that is copied with it: the copy would
        take the place of the original and nothing would have changed.
      copies: the copies that stand before the op.

    """

    position: int
    name: str
    op: ir.Operation
    operands: Sequence[ir.Value]
    is_constant: bool
    uses: int = 0
    groups: list[tuple[int, ir.Operation]] | None = None
    is_private: bool = False
    copies: list[NamedOp] | None = None


class RegionSplitter:
    """Splits the constant expressions of one region.

    The result of a constant is known under the `stablehlo.constant` that it came from; that op
    is erased last.

    Attributes:
      replacements: for positions in the text, what stands there after the split.

    """

    def __init__(self, functions: Functions, function: str, computation: str | None) -> None:
        """Start on the body of `function`, or of the named computation in it."""
        self.replacements: dict[int, list[NamedOp]] = {}
        self._functions = functions
        self._function = function
        self._computation = computation
        self._by_value: dict[ir.Value, _Expression] = {}
        self._expressions: list[_Expression] = []
        self._uses: list[tuple[ir.Operation, int, ir.Value]] = []
        self._old_constants: list[ir.Operation] = []
        self._new_values: dict[ir.Value, ir.Value] = {}
        self._preserving: dict[str, bool] = {}
        self._scalar_types: dict[ir.Type, bool] = {}

    def split(self, ops: Sequence[NamedOp], positions: Iterable[int]) -> None:
        """Split the expressions in the region.

        Args:
          ops: all ops of the module.
          positions: of those that are in the region.

        """
        self._find(ops, positions)
        for old, new in self._new_values.items():
            old.replace_all_uses_with(new)
        for expression in self._expressions:
            expression.is_private = self._is_private(expression)
        for user, number, value in self._uses:
            self._split_use(user, number, value)
        for expression in self._expressions:
            if expression.copies:
                self.replacements[expression.position] = [
                    *expression.copies,
                    (expression.name, expression.op),
                ]
        for expression in reversed(self._expressions):
            self._erase_if_unused(expression)
        for op in self._old_constants:
            op.erase()

    # Finding the expressions and their uses.

    def _find(self, ops: Sequence[NamedOp], positions: Iterable[int]) -> None:
        """Read all ops, and leave the order of uses that MLIR's dialect conversion leaves."""
        uses_no_expression = self._by_value.keys().isdisjoint
        other_names: set[str] = set()
        for position in positions:
            name, op = ops[position]
            if name in _WITHOUT_OPERANDS:
                self._add_leaf(position, name, op)
                continue
            # What `renew_operands` does, which is not called as the time goes here.
            operands = op.operands
            values = list(operands)
            for number, value in enumerate(values):
                operands[number] = value
            if name in _LOOKED_AT or not uses_no_expression(values):
                self._visit(position, name, op, values)
            else:
                other_names.add(name)
        for name in other_names:
            if not self._preserves_by_name(name) and not is_terminator(name):
                self._mark_as_non_constant()

    def _add_leaf(self, position: int, name: str, op: ir.Operation) -> None:
        value = op.result
        if name == _STABLEHLO_CONSTANT:
            self._old_constants.append(op)
            name, op = SDY_CONSTANT, copy_constant_as(SDY_CONSTANT, op)
            self._new_values[value] = op.result
            self.replacements[position] = [(name, op)]
        self._add(_Expression(position, name, op, (), is_constant=True), value)

    def _add(self, expression: _Expression, *results: ir.Value) -> None:
        self._expressions.append(expression)
        for result in results:
            self._by_value[result] = expression

    def _visit(
        self, position: int, name: str, op: ir.Operation, operands: Sequence[ir.Value]
    ) -> None:
        known = list(map(self._by_value.get, operands))
        if name == GROUP:
            if known[0] is not None:
                known[0].groups = [*(known[0].groups or ()), (position, op)]
            return
        is_constant = self._preserves_constants(name, op)
        if not is_constant and not is_terminator(name):
            self._mark_as_non_constant()
        for expression in known:
            if expression is None:
                is_constant = False
            else:
                expression.uses += 1
                is_constant = is_constant and expression.is_constant
        if is_constant or (name == _BROADCAST and self._is_scalar(operands[0])):
            expression = _Expression(position, name, op, operands, is_constant)
            if name in _WITH_BODY:
                self._add(expression, *op.results)
            else:
                self._add(expression, op.result)
            return
        for number, expression in enumerate(known):
            if expression is not None:
                self._uses.append((op, number, operands[number]))

    def _preserves_constants(self, name: str, op: ir.Operation) -> bool:
        """Return whether an op that is no constant has constant results for constant operands."""
        if name == CALL:
            return self._functions.is_constant_call(op)
        if name == NAMED_COMPUTATION:
            computation = ir.StringAttr(op.attributes["name"]).value
            return computation not in self._functions.non_constant_computations
        if name == "stablehlo.bitcast_convert":
            return is_elementwise_op(op)
        return self._preserves_by_name(name)

    def _preserves_by_name(self, name: str) -> bool:
        known = self._preserving.get(name)
        if known is None:
            known = name in _PRESERVING or (is_elementwise(name) and name in ERASABLE)
            self._preserving[name] = known
        return known

    def _mark_as_non_constant(self) -> None:
        self._functions.non_constant.add(self._function)
        if self._computation is not None:
            self._functions.non_constant_computations.add(self._computation)

    def _is_scalar(self, value: ir.Value) -> bool:
        type_ = value.type
        known = self._scalar_types.get(type_)
        if known is None:
            known = self._scalar_types[type_] = is_scalar(type_)
        return known

    def _is_private(self, expression: _Expression) -> bool:
        if expression.uses != 1 or expression.groups or expression.name in _WITH_BODY:
            return False
        return all(map(self._is_used_once, expression.operands))

    def _is_used_once(self, operand: ir.Value) -> bool:
        definition = self._by_value.get(operand)
        if definition is None:
            return len(list(operand.uses)) == 1
        return definition.is_private or (definition.uses == 1 and self._is_scalar(operand))

    # Splitting.

    def _split_use(self, user: ir.Operation, number: int, value: ir.Value) -> None:
        expression = self._by_value[value]
        if self._is_scalar(value):
            if expression.uses > 1:
                # It stays the same value, yet this becomes its newest use.
                user.operands[number] = self._new_values.get(value, value)
        elif not expression.is_private:
            user.operands[number] = self._copy(value)
            expression.uses -= 1

    def _copy(self, root: ir.Value) -> ir.Value:
        """Copy the op of `root` and all that it is computed from, but for scalars."""
        copies: dict[ir.Value, ir.Value] = {}
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

    def _is_copied(self, operand: ir.Value) -> bool:
        return operand in self._by_value and not self._is_scalar(operand)

    def _copy_op(self, value: ir.Value, copies: dict[ir.Value, ir.Value]) -> None:
        expression = self._by_value[value]
        expression.copies = expression.copies or []
        place = ir.InsertionPoint(expression.op)
        copy = expression.op.clone(ip=place).operation
        expression.copies.append((expression.name, copy))
        for number, operand in enumerate(expression.operands):
            if operand in copies:
                copy.operands[number] = copies[operand]
            elif operand in self._by_value:
                self._by_value[operand].uses += 1
        if expression.name in _WITHOUT_OPERANDS:
            copies[value] = copy.result
        else:
            copies.update(zip(expression.op.results, copy.results, strict=True))
        if expression.name == CALL:
            self._functions.clone_callee(copy)
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        if expression.groups:
            for group in _sharding_groups(self._new_values.get(value, value)):
                member = group.clone(ip=place).operation
                member.operands[0] = copies[value]
                expression.copies.append((GROUP, member))

    def _erase_if_unused(self, expression: _Expression) -> None:
        if expression.uses:
            return
        for operand in expression.operands:
            if operand in self._by_value:
                self._by_value[operand].uses -= 1
        self._functions.has_changed_bodies |= expression.name == NAMED_COMPUTATION
        self.replacements[expression.position] = expression.copies or []
        for position, group in expression.groups or ():
            self.replacements[position] = []
            group.erase()
        expression.op.erase()


def _sharding_groups(value: ir.Value) -> list[ir.Operation]:
    users = [use.owner.operation for use in value.uses]
    return [user for user in users if user.name == GROUP]
