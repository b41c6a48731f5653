"""Gives every use of a constant sub-computation its own copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.call_graph import CallGraph, original_function_name
from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.dialect_conversion import renew_uses
from sdy.ir.op_names import FUNCTION
from sdy.ir.rows import packed, packed_range
from sdy.ir.structure import NOTHING
from sdy.ir.symbols import SymbolNames, symbol_name
from sdy.passes.base import Pass
from sdy.passes.import_pipeline.constant_expressions import Marks, RegionSplitter
from sdy.passes.import_pipeline.constant_functions import Functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from librt.vecs import vec
    from mypy_extensions import i64

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ConstantOrScalarSplitter"]


@dataclass(frozen=True, slots=True)
class ConstantOrScalarSplitter(Pass):
    """Splits constant sub-computations and broadcasts of scalars so that each has one use.

    Two uses of one constant need not be sharded alike; through a shared constant propagation
    would think they must. A constant sub-computation is a constant, an iota, or a broadcast,
    reshape, slice or pure elementwise op all of whose operands are constant sub-computations; a
    call or a named computation too, if all in its body is of that kind. Inside one, values may
    have many uses. Scalars stay shared, as they cannot be sharded.

    Every `stablehlo.constant` becomes an `sdy.constant`, which folding does not merge again.
    Members of sharding groups are copied with their membership.
    """

    name: ClassVar[str] = "sdy-constant-or-scalar-splitter"

    def run(self, module: IndexedModule) -> None:
        """Split the sub-computations in place."""
        graph = CallGraph(module)
        functions = Functions(graph.functions, SymbolNames(module), module.module)
        structure = module.structure
        # For `symbol-dce`: functions of constants that have moved to the calls are not called.
        module.read_references()
        # Shardy does it by a dialect conversion.
        renew_uses(structure.use_orders, structure, module.numbered_ops)
        marks = Marks(structure)
        bodies = _function_bodies(module)
        has_named = NAMED_COMPUTATION in module.names
        edit = module.edit()
        for value in structure.use_orders:
            edit.uses.renew(value)
        for name in graph.post_order():
            regions = _Regions(module, bodies[name], has_named=has_named)
            function = original_function_name(graph.functions[name])
            for computation, numbers in regions.in_post_order():
                splitter = RegionSplitter(module, edit, marks, functions, function, computation)
                splitter.split(numbers)
        if functions.has_changed_bodies:
            module.ops_changed()
            return
        for clone in functions.clones:
            edit.clone(bodies[clone.source].start - 1, clone.ops)
        module.apply(edit)


def _function_bodies(module: IndexedModule) -> dict[str, range]:
    """Return for the name of each function of the module the numbers of the ops in it."""
    structure, ops = module.structure, module.numbered_ops
    bodies: dict[str, range] = {}
    for number, end in structure.ends.items():
        if structure.names[number] == FUNCTION and structure.parents[number] == NOTHING:
            bodies[symbol_name(ops[number])] = range(number + 1, end)
    return bodies


class _Regions:
    """The body of a function, and those of the named computations in it."""

    def __init__(self, module: IndexedModule, body: range, *, has_named: bool) -> None:
        self._ops = module.numbered_ops
        self._body = body
        self._ends: dict[int, int] = {}
        if has_named:
            structure = module.structure
            for number in body:
                if structure.names[number] == NAMED_COMPUTATION:
                    self._ends[number] = structure.ends[number]

    def in_post_order(self) -> Iterator[tuple[str | None, vec[i64]]]:
        """Yield named computations, inner ones first, and last the function's own body.

        Each is its name, None for the function, and the numbers of its ops, without those in
        the bodies of named computations in it.
        """
        for number, end in sorted(self._ends.items(), key=lambda item: item[1]):
            yield (
                ir.StringAttr(self._ops[number].attributes["name"]).value,
                self._without_inner(range(number + 1, end)),
            )
        yield None, self._without_inner(self._body)

    def _without_inner(self, numbers: range) -> vec[i64]:
        if not self._ends:
            return packed_range(numbers.start, numbers.stop)
        kept: list[int] = []
        number = numbers.start
        while number < numbers.stop:
            kept.append(number)
            number = self._ends.get(number, number + 1)
        return packed(kept)
