"""What a module says of its values: name, type, sharding and local type of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import check_type
from sdy.ir.attributes import SHARDING
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import FUNCTION, MODULE
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.value_sharding import sharding_of
from sdy.ir.values import function_name, signature, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.signature_attributes import Field

__all__ = ["ValueSharding", "shardings"]


@dataclass(frozen=True, slots=True)
class ValueSharding:
    """What a module says of one value.

    Attributes:
      name: as printed: `%arg0`, `%0`, `%0#1`; `@main result 0` for a function's result.
      function: the function in whose text the name stands, `f`, or `inner::@f` in a nested module;
        '' outside of functions.
      type: the type of the whole tensor.
      sharding: None where the module says nothing.
      local_type: the type of the largest shard.

    """

    name: str
    function: str
    type: str
    sharding: TensorSharding | None
    local_type: str


def shardings(module: ir.Module) -> tuple[ValueSharding, ...]:
    """Return what `module` says of every argument, result and value, in the order of the text.

    A function's arguments come first, then its results, then the values of its body. The names
    of meshes are those of the nearest module around a value.
    """
    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    return tuple(_Reader(module, ir.AsmState(module.operation)).read())


class _Reader:
    """Reads the shardings of one module, each distinct one once.

    Args:
      module: the module, or a module op nested in it.
      state: has the names of the values.

    """

    def __init__(self, module: ir.Module, state: ir.AsmState) -> None:
        self._module = module
        self._codec = IndexedModule(module).codec
        self._state = state
        self._types: dict[tuple[ir.Type, TensorSharding | None], tuple[str, str]] = {}

    def read(self) -> Iterator[ValueSharding]:
        for op in self._module.body.operations:
            root = op.operation
            name = ""
            if root.name == FUNCTION:
                name = function_name(root)
                yield from self._signature(root, name)
            for inner in _operations_of_module(root):
                if inner.name == MODULE:
                    yield from _Reader(inner.opview, self._state).read()
                elif inner != root or not name:
                    yield from self._values(inner, name)

    def _record(
        self, name: str, function: str, type_: ir.Type, sharding: TensorSharding | None
    ) -> ValueSharding:
        texts = self._types.get((type_, sharding))
        if texts is None:
            texts = str(type_), str(_local_type(type_, sharding))
            self._types[type_, sharding] = texts
        return ValueSharding(name, function, texts[0], sharding, texts[1])

    def _signature(self, op: ir.Operation, name: str) -> Iterator[ValueSharding]:
        found = self._signature_shardings(op, "arg_attrs")
        names = [f"%arg{i}" for i in range(len(signature(op).inputs))]
        if len(op.regions[0].blocks):
            names = [arg.get_name(self._state) for arg in op.regions[0].blocks[0].arguments]
        for i, (arg, type_) in enumerate(zip(names, signature(op).inputs, strict=True)):
            yield self._record(arg, name, type_, found.get(i))
        found = self._signature_shardings(op, "res_attrs")
        for i, type_ in enumerate(signature(op).results):
            yield self._record(f"@{name} result {i}", name, type_, found.get(i))

    def _signature_shardings(self, op: ir.Operation, field: Field) -> dict[int, TensorSharding]:
        """Return the shardings of a function's arguments or results, by position."""
        entries = enumerate(signature_entries(op, field))
        return {i: self._codec.sharding(d[SHARDING]) for i, d in entries if SHARDING in d}

    def _values(self, op: ir.Operation, function: str) -> Iterator[ValueSharding]:
        for value in values_of(op):
            sharding = sharding_of(value, self._codec)
            yield self._record(value.get_name(self._state), function, value.type, sharding)


def _operations_of_module(root: ir.Operation) -> list[ir.Operation]:
    """Return an op and those below it, parents first, without what is in nested modules."""
    ops: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        ops.append(op)
        return ir.WalkResult.SKIP if op.name == MODULE else ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return ops


def _local_type(type_: ir.Type, sharding: TensorSharding | None) -> ir.Type:
    if sharding is None or not isinstance(type_, ir.RankedTensorType):
        return type_
    sizes = sharding.local_shape(
        [0 if type_.is_dynamic_dim(i) else size for i, size in enumerate(type_.shape)]
    )
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if type_.is_dynamic_dim(i) else size for i, size in enumerate(sizes)]
    with type_.context, ir.Location.unknown():
        return ir.RankedTensorType.get(shape, type_.element_type, type_.encoding)
