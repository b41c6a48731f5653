"""A flat snapshot of a module: ops and values as integers, read from MLIR once.

Ops are numbered in the order of the text, parents first; values in the order in which they are
met. Operands, results and users are lists of such numbers, so that propagation touches MLIR
again only for the order of uses of a value that has several, and to write the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.diagnostics import op_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Graph"]


class _ValueIds(dict[ir.Value, int]):
    """The number of each value; a value that is new gets the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.values_by_id: list[ir.Value] = []

    def __missing__(self, value: ir.Value) -> int:
        number = len(self.values_by_id)
        self[value] = number
        self.values_by_id.append(value)
        return number


class Graph:
    """The ops and values of a module.

    Attributes:
      ops: all ops below the module, parents first.
      names: the name of each op.
      attributes: the attributes of each op, as they are when looked up.
      operands: the values that each op takes.
      results: the values that each op gives.
      values: the values themselves.
      types: the type of each value.
      producers: the op that each value is a result of; -1 for a block argument.
      users: for each value the ops that use it, once per use, in the order of the text.

    """

    def __init__(self, in_order: Sequence[tuple[str, ir.Operation]]) -> None:
        """Read the ops of a module, given in the order of the text with their names."""
        self.ops: list[ir.Operation] = [op for _, op in in_order]
        self.names: list[str] = [name for name, _ in in_order]
        self._ids = _ValueIds()
        self._without_results: list[int] | None = None
        ids = self._ids.__getitem__
        self.attributes = [op.attributes for op in self.ops]
        self.operands = [tuple(map(ids, op.operands)) for op in self.ops]
        self.results = [tuple(map(ids, op.results)) for op in self.ops]
        self.values = self._ids.values_by_id
        self.types = [value.type for value in self.values]
        self.producers = [-1] * len(self.values)
        for index, results in enumerate(self.results):
            for value in results:
                self.producers[value] = index
        self.users: list[list[int]] = [[] for _ in self.values]
        users = self.users
        for index, operands in enumerate(self.operands):
            for value in operands:
                users[value].append(index)

    def value_id(self, value: ir.Value) -> int:
        """Return the number of a value."""
        return dict.__getitem__(self._ids, value) if value in self._ids else self._add(value)

    def _add(self, value: ir.Value) -> int:
        """Give a number to a block argument that nothing uses."""
        number = self._ids[value]
        self.types.append(value.type)
        self.producers.append(-1)
        self.users.append([])
        return number

    def op_index(self, op: ir.Operation) -> int:
        """Return the number of an op.

        It is found by a result: MLIR hashes an op by its content, which changes.
        """
        if len(op.results):
            return self.producers[self._ids[op.results[0]]]
        if self._without_results is None:
            self._without_results = [
                index for index, results in enumerate(self.results) if not results
            ]
        return next(index for index in self._without_results if self.ops[index] == op)

    def uses(self, value: int) -> Sequence[tuple[int, int]]:
        """Return the uses of a value as (op, operand number), in MLIR's order of uses."""
        users, operands = self.users[value], self.operands
        if len(users) == 1:
            return [(users[0], operands[users[0]].index(value))]
        by_operand_number: dict[int, list[int]] = {}
        for op in dict.fromkeys(users):
            for number, operand in enumerate(operands[op]):
                if operand == value:
                    by_operand_number.setdefault(number, []).append(op)
        return [
            (self._user(use, by_operand_number[use.operand_number]), use.operand_number)
            for use in self.values[value].uses
        ]

    def _user(self, use: ir.OpOperand, candidates: Sequence[int]) -> int:
        """Return which of `candidates` has a use; to ask the use is slow, so it is the last way."""
        if len(candidates) == 1:
            return candidates[0]
        owner = use.owner.operation
        if len(owner.results):
            return self.op_index(owner)
        return next(op for op in candidates if self.ops[op] == owner)

    def nested(self, op: int) -> Iterator[int]:
        """Yield the ops in the regions of `op`, parents first."""
        nested: list[int] = []

        def keep(inner: ir.Operation) -> ir.WalkResult:
            nested.append(self.op_index(inner))
            return ir.WalkResult.ADVANCE

        self.ops[op].walk(keep, ir.WalkOrder.PRE_ORDER)
        yield from nested[1:]

    def ops_by_name(self) -> dict[str, list[ir.Operation]]:
        """Return the ops of each name, in the order of the text."""
        by_name: dict[str, list[ir.Operation]] = {name: [] for name in self.names}
        for name, op in zip(self.names, self.ops, strict=True):
            by_name[name].append(op)
        return by_name

    def check_types(self) -> None:
        """Raise a located error if a result's shape is dynamic or its type a tuple."""
        complaints = {kind: _complaint(kind) for kind in set(self.types)}
        if not any(complaints.values()):
            return
        for op, results in zip(self.ops, self.results, strict=True):
            for value in results:
                complaint = complaints[self.types[value]]
                if complaint:
                    raise op_error(op, complaint)


def _complaint(kind: ir.Type) -> str | None:
    if isinstance(kind, ir.TupleType):
        return f"Shardy propagation doesn't support tuples: '{kind}'"
    if isinstance(kind, ir.ShapedType) and not (kind.has_rank and kind.has_static_shape):
        return (
            f"Shardy propagation only supports ranked tensors with a static shape. type: '{kind}'"
        )
    return None
