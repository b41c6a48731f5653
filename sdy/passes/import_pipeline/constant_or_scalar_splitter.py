"""Gives every use of a constant sub-computation its own copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.call_graph import CallGraph, original_function_name
from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.ir.op_names import FUNCTION
from sdy.ir.symbols import SymbolNames, symbol_name
from sdy.ir.values import operations
from sdy.passes.base import Pass
from sdy.passes.import_pipeline.constant_expressions import Functions, RegionSplitter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.indexed_module import IndexedModule, NamedOp

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
        has_named = bool(module.ops(NAMED_COMPUTATION))
        bodies = dict(_function_bodies(module))
        replacements: dict[int, Sequence[NamedOp]] = {}
        for name in graph.post_order():
            regions = _Regions(module.in_order, bodies[name], has_named=has_named)
            function = original_function_name(graph.functions[name])
            for computation, positions in regions.in_post_order():
                splitter = RegionSplitter(functions, function, computation)
                splitter.split(module.in_order, positions)
                replacements |= splitter.replacements
        if functions.has_changed_bodies:
            module.ops_changed()
        else:
            module.replace_at(replacements, functions.cloned_ops())


def _function_bodies(module: IndexedModule) -> Iterator[tuple[str, range]]:
    """Yield the name of each function of the module and the positions of the ops in it."""
    ops = module.in_order
    top = {op.operation for op in module.module.body.operations}
    names = {op.name for op in top}
    starts = [i for i, (name, op) in enumerate(ops) if name in names and op in top]
    for start, end in pairwise([*starts, len(ops)]):
        name, op = ops[start]
        if name == FUNCTION:
            yield symbol_name(op), range(start + 1, end)


class _Regions:
    """The body of a function, and those of the named computations in it."""

    def __init__(self, ops: Sequence[NamedOp], body: range, *, has_named: bool) -> None:
        self._ops = ops
        self._body = body
        self._ends: dict[int, int] = {}
        if has_named:
            for position in body:
                name, op = ops[position]
                if name == NAMED_COMPUTATION:
                    self._ends[position] = position + 1 + len(operations(op))

    def in_post_order(self) -> Iterator[tuple[str | None, Sequence[int]]]:
        """Yield named computations, inner ones first, and last the function's own body.

        Each is its name, None for the function, and the positions of its ops, without those in
        the bodies of named computations in it.
        """
        for position, end in sorted(self._ends.items(), key=lambda item: item[1]):
            _, op = self._ops[position]
            yield (
                ir.StringAttr(op.attributes["name"]).value,
                self._without_inner(range(position + 1, end)),
            )
        yield None, self._without_inner(self._body)

    def _without_inner(self, positions: range) -> Sequence[int]:
        if not self._ends:
            return positions
        kept: list[int] = []
        position = positions.start
        while position < positions.stop:
            kept.append(position)
            position = self._ends.get(position, position + 1)
        return kept
