"""Which ops and tensors of a record are which ops and values of the program after the export."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.op_names import CALL, CONSTRAINT, FUNCTION, RESHARD, RETURN

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from sdy.explain.program import Function, Op, Program
    from sdy.explain.record import Record

__all__ = ["Correspondence"]

# What export passes put in the place of an op; it gives the same values.
_SUCCESSORS = {CONSTRAINT: RESHARD, NAMED_COMPUTATION: CALL}


def _is_successor(name: str, recorded: str) -> bool:
    """Return whether an op with the mark of a recorded op is that op, by the names of both.

    Otherwise it is one that an export pass has made at that place.
    """
    return name == recorded or name == _SUCCESSORS.get(recorded)


class Correspondence:
    """Which ops and tensors of a record are which ops and values of a program.

    The marks of ops say it, and where an op is gone because it was equal to another, the users of
    its results do. Calls that share a function share its ops, whichever call's body was kept.
    """

    def __init__(self, record: Record | None, program: Program) -> None:
        self._record = record
        self._program = program

    @cached_property
    def tensor_by_value(self) -> dict[int, int]:
        """For the values of the program the tensors of the record, as far as there are."""
        record, program = self._record, self._program
        found: dict[int, int] = {}
        if record is None:
            return found
        for mark, op in self._originals.items():
            found.update(zip(op.results, record.results[mark], strict=True))
            found.update(zip(op.arguments, record.arguments.get(mark, ()), strict=False))
        for function in program.functions:
            if function.mark is not None:
                arguments = record.arguments.get(function.mark, ())
                found.update(zip(function.arguments, arguments, strict=False))
                found.update(self._results(function, record.results[function.mark], found))
        return found

    def _results(
        self, function: Function, tensors: Sequence[int], known: Mapping[int, int]
    ) -> Iterator[tuple[int, int]]:
        """Yield the results of a function with their tensors.

        A result that propagation has left alone is what is returned there.
        """
        returned: Sequence[int] = ()
        for number in function.ops:
            if self._program.ops[number].name == RETURN:
                returned = self._program.ops[number].operands
        for index, (result, tensor) in enumerate(zip(function.results, tensors, strict=False)):
            left_alone = self._record is None or self._record.shardings[tensor] is None
            if left_alone and index < len(returned):
                tensor = known.get(self._before(returned[index], known), tensor)
            yield result, tensor

    @cached_property
    def value_by_tensor(self) -> dict[int, int]:
        """For the tensors of the record the first values of the program that they are."""
        found: dict[int, int] = {}
        record = self._record
        if record is None:
            return found
        results = {value for function in self._program.functions for value in function.results}
        # What a function returns goes by the name that it has in the function.
        for value, tensor in sorted(self.tensor_by_value.items(), key=lambda v: v[0] in results):
            found.setdefault(tensor, value)
        for mark, op in self._originals.items():
            for tensor, operand in zip(record.op_tensors[mark], op.operands, strict=False):
                found.setdefault(tensor, self._before(operand, self.tensor_by_value))
        for mark, kept in self._copies.items():
            for mine, other in zip(_tensors(record, mark), _tensors(record, kept), strict=False):
                if other in found:
                    found.setdefault(mine, found[other])
        return found

    @cached_property
    def op_by_mark(self) -> dict[int, int]:
        """For the ops of the record the ops of the program that they are, as far as there are.

        For a function that is its return; for a data-flow edge the op whose region it is about.
        """
        record, program = self._record, self._program
        if record is None:
            return {}
        found = {mark: op.number for mark, op in self._originals.items()}
        for function in program.functions:
            if function.mark is not None and record.op_names[function.mark] == FUNCTION:
                for number in function.ops:
                    if program.ops[number].name == RETURN:
                        found[function.mark] = number
        for mark, kept in self._copies.items():
            if kept in found:
                found.setdefault(mark, found[kept])
        calls = {op.target: op.number for op in reversed(program.ops) if op.name == CALL}
        called = {f.mark: calls[f.name] for f in program.functions if f.name in calls}
        for mark in range(len(record.op_names)):
            owner = called.get(mark, found.get(mark))
            edges = (record.edges.get(tensor) for tensor in _tensors(record, mark))
            if owner is not None:
                found.update({edge: owner for edge in edges if edge is not None})
        for mark, results in enumerate(record.results):
            value = self.value_by_tensor.get(results[0]) if results else None
            op = None if value is None else program.values[value].op
            if op is not None:
                found.setdefault(mark, op)
        return found

    @cached_property
    def _originals(self) -> dict[int, Op]:
        """The ops of the program that are ops of the record, by their marks."""
        found: dict[int, Op] = {}
        if self._record is not None:
            for op in self._program.ops:
                if op.mark is not None and _is_successor(op.name, self._record.op_names[op.mark]):
                    found.setdefault(op.mark, op)
        return found

    @cached_property
    def _copies(self) -> dict[int, int]:
        """For the ops in the body of a call, those of the body that the call has now."""
        bodies = {function.name: function.mark for function in self._program.functions}
        copies: dict[int, int] = {}
        for mark, op in self._originals.items():
            kept = bodies.get(op.target) if op.name == CALL else None
            if kept is not None and kept != mark:
                copies.update(self._copies_of_body(mark, kept))
        return copies

    def _copies_of_body(self, mark: int, kept: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of the ops of two named computations that were one function.

        The body that was not kept ends before the next op that is left in the program.
        """
        names = () if self._record is None else self._record.op_names
        yield mark, kept
        mark, kept = mark + 1, kept + 1
        while mark < len(names) and mark not in self._originals and names[mark] == names[kept]:
            yield mark, kept
            mark, kept = mark + 1, kept + 1

    def _before(self, value: int, known: Container[int]) -> int:
        """Return the value with a tensor that reshards made by the export passes start from."""
        while value not in known:
            op = self._program.values[value].op
            operands = () if op is None else self._program.ops[op].operands
            if len(operands) != 1:
                break
            value = operands[0]
        return value


def _tensors(record: Record, mark: int) -> list[int]:
    """Return the tensors of the results of an op, then those of the arguments of its regions."""
    return [*record.results[mark], *record.arguments.get(mark, ())]
