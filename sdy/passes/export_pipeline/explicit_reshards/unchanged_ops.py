"""Tells of most ops, by their numbers alone, that nothing is inserted around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.dialect.errors import Error
from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING, SHARDING_RULE
from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow import DATA_FLOW_OPS
from sdy.ir.function_shardings import argument_shardings
from sdy.ir.op_attributes import NO_ATTRIBUTE
from sdy.ir.op_names import BARRIER, CALL, FUNCTION
from sdy.ir.rows import filled
from sdy.ir.structure import NOTHING
from sdy.ir.symbols import symbol_name
from sdy.ir.types import element_count, rank
from sdy.ir.value_attributes import ValueAttributes
from sdy.passes.export_pipeline.explicit_reshards.op_plan import OpCase, kind_of, plan_op
from sdy.passes.export_pipeline.explicit_reshards.op_rules import op_rule, rule_key
from sdy.passes.export_pipeline.explicit_reshards.use_steps import steps_to

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["UnchangedOps"]

_CONCATENATE: Final = "stablehlo.concatenate"
_RAGGED_DOT: Final = "mhlo.ragged_dot"
_NOT_TOLD: Final = DATA_FLOW_OPS | {FUNCTION}

_OTHER: Final = -2
"""Stands for a type and sharding that are not known."""

Numbers = tuple[int, ...]


class UnchangedOps:
    """The ops of a module without unreduced axes around which nothing is inserted.

    What is inserted around other ops does not matter: those that use their results use others of
    the same types and shardings in their place.
    """

    def __init__(self, module: IndexedModule, *, is_full: bool) -> None:
        """Look at no op yet.

        Args:
          module: the module.
          is_full: whether all conflicts are to be resolved, not just what must be.

        """
        self._module = module
        self._is_full = is_full
        self._is_written = False
        self._codec = module.codec
        self._structure = module.last_structure
        self._ops = module.late_ops
        self._replaced = module.changes.replaced
        self._attributes = ValueAttributes(module)
        self._rules = module.attribute_numbers(SHARDING_RULE)
        self._has_barriers = BARRIER in self._structure.names
        self._numbers = filled(NOTHING, len(self._structure.types))
        self._known: dict[tuple[int, ir.Attribute | None], int] = {}
        self._types: list[ir.Type] = []
        self._shardings: list[TensorSharding | None] = []
        self._cases: dict[Hashable, bool] = {}
        self._functions: dict[str, ir.Operation] = {}
        self._arguments: dict[str, tuple[TensorSharding, ...] | None] = {}

    def contains(self, number: int) -> bool:
        """Return whether nothing is inserted around an op; False, too, if it cannot be told."""
        structure = self._structure
        name = structure.names[number]
        if name in _NOT_TOLD:
            return False
        operands = self._numbers_of(structure.operands[number])
        # They are read even if that is in vain: not all can be after something is inserted.
        results = self._numbers_of(structure.results[number])
        if _OTHER in operands:
            return False
        try:
            if name == CALL:
                return self._is_call_unchanged(number, operands)
            return self._is_unchanged(number, name, operands, results)
        except Error:
            # It is for those who insert to say where.
            return False

    def prepare(self, number: int) -> None:
        """Let MLIR know what those who insert something around an op look at."""
        if not self._is_written:
            self._is_written = True
            self._module.write_named_attributes(SHARDING)
        self._module.write_attributes((number,))

    def leave_out(self, number: int) -> None:
        """Note that something may have been inserted around an op."""
        if self._structure.names[number] in _NOT_TOLD:
            return
        for value in self._structure.results[number]:
            if self._shardings[self._numbers_of((value,))[0]] is None:
                # What is used in its place now has a sharding.
                self._numbers[value] = _OTHER

    def _is_call_unchanged(self, number: int, operands: Numbers) -> bool:
        name = callee_name(self._ops[number])
        key: Hashable = name, operands
        known = self._cases.get(key)
        if known is None:
            shardings = [self._shardings[operand] for operand in operands]
            pairs = zip(shardings, self._taken_by(name, operands), strict=True)
            known = not any(steps_to(old, new, may_reshard=True) for old, new in pairs)
            self._cases[key] = known
        return known

    def _taken_by(self, name: str, operands: Numbers) -> Sequence[TensorSharding | None]:
        """Return the shardings in which a function takes its arguments."""
        if not self._functions:
            numbers = self._module.numbers(FUNCTION)
            self._functions = {symbol_name(self._ops[n]): self._ops[n] for n in numbers}
        if name not in self._arguments:
            self._arguments[name] = argument_shardings(self._functions[name], self._codec)
        taken = self._arguments[name]
        if taken is not None:
            return taken
        shardings = [self._shardings[operand] for operand in operands]
        meshes = (sharding.bound_mesh for sharding in shardings if sharding is not None)
        mesh = next((mesh for mesh in meshes if not mesh.is_maximal), None)
        if mesh is None:
            return shardings
        types = [self._types[operand] for operand in operands]
        return [TensorSharding.fully_closed(mesh, rank(type_)) for type_ in types]

    def _is_unchanged(self, number: int, name: str, operands: Numbers, results: Numbers) -> bool:
        sources = operands
        if self._has_barriers:
            values = self._structure.operands[number]
            sources = self._numbers_of([self._behind_barriers(value) for value in values])
            if _OTHER in sources:
                return False
        rule: Hashable = self._rules[number]
        if rule == NO_ATTRIBUTE:
            self._module.write_attributes((number,))
            rule = rule_key(self._ops[number], name)
        key: Hashable = name, rule, operands, sources, results
        known = self._cases.get(key)
        if known is None:
            shardings = [self._shardings[n] for n in (*operands, *results)]
            may_reshard = self._is_full or name == _RAGGED_DOT
            if name == _CONCATENATE and not may_reshard:
                may_reshard = any(sharding != shardings[0] for sharding in shardings)
            case = OpCase(
                kind_of(name),
                may_reshard,
                op_rule(self._ops[number], self._module.rule(number)),
                tuple([element_count(self._types[n]) for n in (*operands, *results)]),
                tuple([self._shardings[n] for n in operands]),
                tuple([self._shardings[n] for n in sources]),
                tuple([self._shardings[n] for n in results]),
            )
            known = self._cases[key] = plan_op(case).is_empty
        return known

    def _behind_barriers(self, value: int) -> int:
        structure = self._structure
        value = self._replaced.get(value, value)
        producer = structure.producers[value]
        while producer != NOTHING and structure.names[producer] == BARRIER:
            value = structure.operands[producer][0]
            value = self._replaced.get(value, value)
            producer = structure.producers[value]
        return value

    def _numbers_of(self, values: Iterable[int]) -> Numbers:
        """Return for each value a number of its type and sharding."""
        known = self._numbers
        return tuple([known[v] if known[v] != NOTHING else self._number(v) for v in values])

    def _number(self, value: int) -> int:
        used = self._replaced.get(value, value)
        if self._numbers[used] == _OTHER:
            return _OTHER
        sharding = self._attributes.get(used)
        pair = self._structure.types[used], sharding
        number = self._known.get(pair)
        if number is None:
            number = self._known[pair] = len(self._types)
            self._types.append(self._attributes.value(used).type)
            self._shardings.append(None if sharding is None else self._codec.sharding(sharding))
        self._numbers[value] = number
        return number
