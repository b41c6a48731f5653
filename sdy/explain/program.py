"""A program as tables: its values, its ops and where they come from, as plain data."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.explain.locations import NOWHERE, Place, PlaceReader
from sdy.explain.manual_bodies import local_values
from sdy.explain.op_marks import mark_of
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import DATA_FLOW_OPS, MANUAL_COMPUTATION
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.sharding_access import manual_axes
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.value_sharding import sharding_of
from sdy.ir.values import function_name, signature, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.signature_attributes import Field

__all__ = ["MAIN", "Function", "Op", "Program", "Value", "functions_of", "read_program"]

MAIN = "main"

_BITS = re.compile(r"\d+")
_TARGET_FIELDS = {CALL: "callee", "stablehlo.custom_call": "call_target_name"}
_RESULT_INFO = "jax.result_info"


@dataclass(frozen=True, slots=True)
class Value:
    """An argument, a result or a value of a program.

    Attributes:
      number: its place in `Program.values`.
      name: as `sdy.shardings` has it: `%42`, `%arg0`, `@main result 0`.
      function: in whose text the name stands, as `sdy.shardings` has it.
      label: what the source calls it, `params['w']`; '' where the program does not keep that.
      type: the type of the whole tensor.
      shape: of the whole tensor; empty for what is no ranked tensor.
      element_type: `f32`; '' for what is no ranked tensor.
      sharding: None where the program says nothing.
      op: the op that gives it, or that has it as an argument of a region; None for the arguments
        and results of a function.
      place: where it comes from.
      occurrence: which of several values of that name it is, from 0, as regions of a function may
        use the same names; None where it is the only one.
      manual_axes: those of the manual computations that it is in: each device along them has a
        value of its own, and `shape` is the shape of that.

    """

    number: int
    name: str
    function: str
    label: str
    type: str
    shape: tuple[int, ...]
    element_type: str
    sharding: TensorSharding | None
    op: int | None
    place: Place
    occurrence: int | None = None
    manual_axes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.spelling} ({self.label})" if self.label else self.spelling

    @property
    def spelling(self) -> str:
        """A name that no other value of the program has: `%42`, `@f:%42`, `%42/1`.

        With the function where that is not main, and with the occurrence where there are several.
        """
        name = self.name if self.occurrence is None else f"{self.name}/{self.occurrence}"
        if self.function == MAIN or self.name.startswith("@"):
            return name
        return f"@{self.function}:{name}"

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of the largest shard."""
        return self.shape if self.sharding is None else self.sharding.local_shape(self.shape)

    @property
    def local_bytes(self) -> int:
        """The bytes of the largest shard; 0 for what is no ranked tensor."""
        bits = _BITS.search(self.element_type)
        if bits is None:
            return 0
        parts = 2 if self.element_type.startswith("complex") else 1
        return math.prod(self.local_shape) * parts * -(-int(bits[0]) // 8)

    @property
    def is_split(self) -> bool:
        """Whether an axis splits a dimension."""
        return self.sharding is not None and any(d.axes for d in self.sharding.dimensions)


@dataclass(frozen=True, slots=True)
class Op:
    """An op of a program.

    Attributes:
      number: its place in `Program.ops`.
      name: `stablehlo.dot_general`.
      function: that it is in, as `sdy.shardings` names it.
      operands: the numbers of the values that it takes.
      results: the numbers of the values that it gives.
      arguments: the numbers of the arguments of its regions, region by region.
      parent: the op in whose region it is; None directly in a function.
      place: where it comes from.
      target: the function that it calls, or the target of a custom call; '' for other ops.
      mark: the number in its location; see `sdy.explain.op_marks`.

    """

    number: int
    name: str
    function: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    arguments: tuple[int, ...]
    parent: int | None
    place: Place
    target: str
    mark: int | None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a program.

    Attributes:
      name: as `sdy.shardings` has it.
      arguments: the numbers of its arguments.
      results: the numbers of its results.
      ops: the numbers of its ops, in the order of the text, those in regions too.
      place: where it comes from.
      mark: the number in its location; see `sdy.explain.op_marks`.

    """

    name: str
    arguments: tuple[int, ...]
    results: tuple[int, ...]
    ops: range
    place: Place
    mark: int | None


@dataclass(frozen=True)
class Program:
    """The functions of a program, in the order of its text.

    Regions are read where data flows through them: those of loops, branches, manual and named
    computations. What a reduction, a sort or a scatter does with two elements is left out, and so
    are nested modules, in which nothing propagates.
    """

    meshes: tuple[Mesh, ...]
    functions: tuple[Function, ...]
    values: tuple[Value, ...]
    ops: tuple[Op, ...]

    def users(self, value: int) -> tuple[Op, ...]:
        """Return the ops that use a value, in the order of the text."""
        return tuple([self.ops[number] for number in self._users.get(value, ())])

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for op in self.ops:
            for value in dict.fromkeys(op.operands):
                users.setdefault(value, []).append(op.number)
        return users


def read_program(module: ir.Module) -> Program:
    """Read a module, whose ops may have marks."""
    return _Reader(module).read()


def functions_of(module: ir.Module) -> list[ir.Operation]:
    """Return the functions of a module that its tables have, in their order."""
    ops = [view.operation for view in module.body.operations]
    return [op for op in ops if op.name == FUNCTION]


@dataclass(frozen=True, slots=True)
class _Type:
    text: str
    shape: tuple[int, ...]
    element_type: str

    @staticmethod
    def of(type_: ir.Type) -> _Type:
        if not (isinstance(type_, ir.RankedTensorType) and type_.has_static_shape):
            return _Type(str(type_), (), "")
        return _Type(str(type_), tuple(type_.shape), str(type_.element_type))


class _Reader:
    def __init__(self, module: ir.Module) -> None:
        self._module = module
        self._indexed = IndexedModule(module)
        self._codec = self._indexed.codec
        self._state = ir.AsmState(module.operation)
        self._places = PlaceReader()
        self._types: dict[ir.Type, _Type] = {}
        self._numbers: dict[ir.Value, int] = {}
        self._values: list[Value] = []
        self._ops: list[Op | None] = []
        self._manual_axes: dict[int, frozenset[str]] = {}

    def read(self) -> Program:
        read = tuple([self._function(op) for op in functions_of(self._module)])
        ops = tuple([op for op in self._ops if op is not None])
        local = local_values(read, ops, self._manual_axes)
        for number, axes in local.items():
            self._values[number] = replace(self._values[number], manual_axes=axes)
        values = tuple(_numbered(self._values))
        return Program(tuple(self._indexed.meshes.values()), read, values, ops)

    def _function(self, op: ir.Operation) -> Function:
        name = function_name(op)
        blocks = op.regions[0].blocks
        arguments, results = signature(op).inputs, signature(op).results
        start = len(self._values)
        if len(blocks):
            for argument in blocks[0].arguments:
                self._argument(argument, name)
        else:
            shardings = self._signature(op, "arg_attrs")
            for index, type_ in enumerate(arguments):
                self._add(f"%arg{index}", name, "", type_, shardings.get(index))
        shardings = self._signature(op, "res_attrs")
        labels = self._result_labels(op)
        for index, type_ in enumerate(results):
            self._add(
                f"@{name} result {index}",
                name,
                labels.get(index, ""),
                type_,
                shardings.get(index),
            )
        first = len(self._ops)
        for block in blocks:
            self._block(block, name, None)
        middle = start + len(arguments)
        return Function(
            name,
            tuple(range(start, middle)),
            tuple(range(middle, middle + len(results))),
            range(first, len(self._ops)),
            self._places.read(op.location),
            mark_of(op.location),
        )

    def _signature(self, op: ir.Operation, field: Field) -> dict[int, TensorSharding]:
        entries = enumerate(signature_entries(op, field))
        return {i: self._codec.sharding(d[SHARDING]) for i, d in entries if SHARDING in d}

    def _result_labels(self, op: ir.Operation) -> dict[int, str]:
        entries = enumerate(signature_entries(op, "res_attrs"))
        return {
            i: ir.StringAttr(d[_RESULT_INFO]).value_bytes.decode("utf-8", "backslashreplace")
            for i, d in entries
            if _RESULT_INFO in d and isinstance(d[_RESULT_INFO], ir.StringAttr)
        }

    def _argument(self, argument: ir.BlockArgument, function: str) -> None:
        place = self._places.read(argument.location)
        self._numbers[argument] = self._add(
            argument.get_name(self._state),
            function,
            place.label,
            argument.type,
            sharding_of(argument, self._codec),
            place=place,
        )

    def _add(
        self,
        name: str,
        function: str,
        label: str,
        type_: ir.Type,
        sharding: TensorSharding | None,
        op: int | None = None,
        place: Place = NOWHERE,
    ) -> int:
        known = self._types.get(type_)
        if known is None:
            known = self._types[type_] = _Type.of(type_)
        number = len(self._values)
        self._values.append(
            Value(
                number,
                name,
                function,
                label,
                known.text,
                known.shape,
                known.element_type,
                sharding,
                op,
                place,
            )
        )
        return number

    def _block(self, block: ir.Block, function: str, parent: int | None) -> None:
        for view in block.operations:
            op = view.operation
            number = len(self._ops)
            self._ops.append(None)
            place = self._places.read(op.location)
            if op.name == MANUAL_COMPUTATION:
                self._manual_axes[number] = manual_axes(op)
            has_regions = op.name in DATA_FLOW_OPS
            defined = list(values_of(op)) if has_regions else list(op.results)
            for value in defined:
                self._numbers[value] = self._add(
                    value.get_name(self._state),
                    function,
                    "",
                    value.type,
                    sharding_of(value, self._codec),
                    number,
                    place,
                )
            count = len(op.results)
            self._ops[number] = Op(
                number,
                op.name,
                function,
                tuple([self._numbers[value] for value in op.operands]),
                tuple([self._numbers[value] for value in defined[:count]]),
                tuple([self._numbers[value] for value in defined[count:]]),
                parent,
                place,
                _target(op),
                mark_of(op.location),
            )
            if has_regions:
                for inner in _blocks(op):
                    self._block(inner, function, number)


def _numbered(values: Sequence[Value]) -> Iterator[Value]:
    """Yield the values, with their occurrences where several have one name."""
    counts = Counter((value.function, value.name) for value in values)
    met: Counter[tuple[str, str]] = Counter()
    for value in values:
        key = (value.function, value.name)
        if counts[key] == 1:
            yield value
        else:
            yield replace(value, occurrence=met[key])
            met[key] += 1


def _blocks(op: ir.Operation) -> Iterator[ir.Block]:
    for region in op.regions:
        yield from region.blocks


def _target(op: ir.Operation) -> str:
    field = _TARGET_FIELDS.get(op.name)
    if field is None or field not in op.attributes:
        return ""
    return str(op.attributes[field]).removeprefix("@").strip('"')
