"""Composites followed into their decompositions: each is inlined while shardings propagate.

A `stablehlo.composite` gives way to an `sdy.named_computation` with a copy of its decomposition
for a body, so that its operands are joined to the arguments and what the body returns to its
results, as those of a call are. Afterwards it stands there again, and what has become of the
copy is its decomposition.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING, SHARDING_RULE
from sdy.ir.call_graph import MAX_COPIES, callee_name, too_many_copies
from sdy.ir.data_flow import NAMED_COMPUTATION, edge_on
from sdy.ir.data_flow_edges import add_edges, block_argument_edge_owners, edge_shardings
from sdy.ir.diagnostics import op_error
from sdy.ir.function_shardings import argument_shardings, result_shardings
from sdy.ir.named_computations import in_post_order, move_body
from sdy.ir.op_names import CALL, FUNC_EDGE, FUNCTION, SDY_RETURN
from sdy.ir.replacement import create_for
from sdy.ir.symbols import is_private, symbol_name
from sdy.ir.types import is_static_shaped
from sdy.ir.use_order import move_uses
from sdy.ir.values import operations
from sdy.passes.propagation.decompositions import Decompositions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["composites_followed"]

_COMPOSITE = "stablehlo.composite"
_DECOMPOSITION = "decomposition"
_ORIGINS = "sdy.sharding_origins"
_ATTRIBUTES_OF_COMPOSITE = "composite"


@contextmanager
def composites_followed(module: IndexedModule) -> Iterator[None]:
    """Have the composites of a module inlined during a `with` block, in place.

    Not inlined are those with a sharding rule, those with regions, and those without a result
    that could be sharded. Where the block raises, the module is left as it is then.

    Raises:
      Error: at a composite that decomposes into itself.

    """
    if not module.ops(_COMPOSITE):
        yield
        return
    inliner = _Inliner(module)
    inliner.inline_all()
    module.ops_changed()
    yield
    module.ops_changed()
    decompositions = Decompositions(module, inliner.replaceable)
    _restore_composites(module, decompositions)
    decompositions.drop_unused()
    module.ops_changed()


class _Inliner:
    """Replaces composites by named computations.

    Attributes:
      replaceable: the names of the functions that nothing but inlined composites uses. They give
        way to what becomes of their copies; until then they have no body.

    """

    def __init__(self, module: IndexedModule) -> None:
        self._functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        self._codec = module.codec
        self._copies = 0
        composites = module.ops(_COMPOSITE)
        inlined = {_decomposition(op) for op in composites if self._can_be_inlined(op)}
        used = {_decomposition(op) for op in composites if not self._can_be_inlined(op)}
        used.update(map(callee_name, module.ops(CALL)))
        self.replaceable = {name for name in inlined - used if is_private(self._functions[name])}

    def inline_all(self) -> None:
        """Replace all composites, and drop the bodies of the replaceable functions."""
        for name, function in self._functions.items():
            if name not in self.replaceable:
                self._inline_in(function, ())
        for name in self.replaceable:
            _drop_body(self._functions[name])

    def _inline_in(self, root: ir.Operation, path: tuple[str, ...]) -> None:
        """Replace the composites below an op, and in turn those in their copies.

        Args:
          root: the op.
          path: the decompositions that it is in a copy of, outermost first.

        """
        for op in operations(root):
            if op.name == _COMPOSITE and self._can_be_inlined(op):
                name = _decomposition(op)
                if name in path:
                    cycle = " -> @".join((*path, name))
                    raise op_error(op, f"composite decomposes into itself: @{cycle}")
                self._inline_in(self._inline(op), (*path, name))

    def _can_be_inlined(self, op: ir.Operation) -> bool:
        return (
            SHARDING_RULE not in op.attributes
            and not len(op.regions)
            and any(is_static_shaped(result.type) for result in op.results)
            and len(self._functions[_decomposition(op)].regions[0].blocks) == 1
        )

    def _inline(self, op: ir.Operation) -> ir.Operation:
        """Replace a composite; return the named computation."""
        self._copies += 1
        if self._copies > MAX_COPIES:
            raise too_many_copies(op)
        function = self._functions[_decomposition(op)]
        computation = self._named_computation(op, function)
        clone = function.clone(ip=ir.InsertionPoint(function)).operation
        move_body(clone, computation, SDY_RETURN)
        clone.erase()
        for old, new in zip(op.results, computation.results, strict=True):
            move_uses(old, new)
        op.erase()
        arguments = block_argument_edge_owners(computation)
        for argument in arguments:
            _drop_func_edge(argument)
        add_edges(arguments, self._codec)
        add_edges(computation.results, self._codec)
        return computation

    def _named_computation(self, op: ir.Operation, function: ir.Operation) -> ir.Operation:
        kept = dict(op.attributes.items())
        attributes = {
            "name": ir.StringAttr.get(symbol_name(function), op.context),
            _ATTRIBUTES_OF_COMPOSITE: ir.DictAttr.get(kept, op.context),
        }
        in_shardings = argument_shardings(function, self._codec)
        if in_shardings is not None:
            attributes["in_shardings"] = self._codec.list_attribute(in_shardings)
        out_shardings = result_shardings(function, self._codec)
        if SHARDING in kept:
            attributes["out_shardings"] = kept[SHARDING]
        elif out_shardings is not None:
            attributes["out_shardings"] = self._codec.list_attribute(out_shardings)
        return create_for(op, NAMED_COMPUTATION, attributes, regions=1)


def _decomposition(op: ir.Operation) -> str:
    name: str = ir.FlatSymbolRefAttr(op.attributes[_DECOMPOSITION]).value
    return name


def _drop_body(function: ir.Operation) -> None:
    # A block can be erased only with an op that it is in.
    clone = function.clone(ip=ir.InsertionPoint(function)).operation
    function.regions[0].blocks[0].append_to(clone.regions[0])
    clone.erase()


def _drop_func_edge(argument: ir.Value) -> None:
    """Drop the edge that joins a function's argument to the operands of calls."""
    users = [use.owner.operation for use in argument.uses]
    if len(users) == 1 and users[0].name == FUNC_EDGE:
        move_uses(users[0].results[0], argument)
        users[0].erase()


def _restore_composites(module: IndexedModule, decompositions: Decompositions) -> None:
    """Put a composite with the shardings of the results in the place of each inlined one."""
    inlined = [
        op for op in module.ops(NAMED_COMPUTATION) if _ATTRIBUTES_OF_COMPOSITE in op.attributes
    ]
    for op in in_post_order(inlined):
        kept = ir.DictAttr(op.attributes[_ATTRIBUTES_OF_COMPOSITE])
        attributes = {entry.name: entry.attr for entry in kept}
        shardings = edge_shardings(op.results, module.codec)
        if shardings:
            attributes[SHARDING] = module.codec.list_attribute(shardings)
            attributes |= _origins(op)
        name = ir.FlatSymbolRefAttr(attributes[_DECOMPOSITION]).value
        attributes[_DECOMPOSITION] = ir.FlatSymbolRefAttr.get(
            decompositions.take_body(op, name), op.context
        )
        _restore(op, attributes)


def _restore(op: ir.Operation, attributes: dict[str, ir.Attribute]) -> None:
    """Replace a named computation, and the edges on its results, by a composite."""
    composite = create_for(op, _COMPOSITE, attributes)
    for old, new in zip(op.results, composite.results, strict=True):
        edge = edge_on(old)
        if edge is None:
            move_uses(old, new)
        else:
            move_uses(edge.result, new)
            edge.erase()
    op.erase()


def _origins(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the attribute that says whose annotations the shardings of an op's results go back to.

    Propagation has written one on each edge, if any were asked for.
    """
    edges = map(edge_on, op.results)
    found = [None if edge is None else edge.attributes.get(_ORIGINS) for edge in edges]
    if not any(entry is not None for entry in found):
        return {}
    none = ir.DictAttr.get({}, op.context)
    entries = [none if entry is None else entry for entry in found]
    return {_ORIGINS: ir.ArrayAttr.get(entries, op.context)}
