"""Makes functions and calls of named computations, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import ORIGINAL_NAME
from sdy.ir.data_flow import DATA_FLOW_EDGE
from sdy.ir.named_computations import EXECUTION_THREAD, discardable_attributes, move_body
from sdy.ir.op_names import CALL, FUNCTION, RETURN
from sdy.ir.replacement import create_for
from sdy.ir.structure import NOTHING
from sdy.ir.symbols import SymbolNames
from sdy.ir.types import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ComputationExporter"]

Shardings = tuple[ir.Attribute, ...]


class ComputationExporter:
    """Replaces named computations, with ops and values as they are numbered in the structure.

    Attributes:
      edit: what has changed.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.edit = module.edit(is_late=True)
        self._module = module
        self._codec = module.codec
        self._structure = module.last_structure
        self._ops = module.late_ops
        self._erased = module.changes.erased
        self._names = SymbolNames(module)
        self._end = ir.InsertionPoint(self._ops[0].block)
        self._functions: dict[int, int] = {}
        self._left: list[tuple[int, ir.Value]] = []
        # Edges that are not the only use of their value do not speak for it.
        self._unheard: set[int] = set()
        self._lists: dict[Shardings, ir.Attribute] = {}
        self._signatures: dict[Shardings, ir.Attribute] = {}
        self._types: dict[tuple[tuple[int, ...], tuple[int, ...]], ir.Attribute] = {}

    def export(self, number: int) -> None:
        """Replace a named computation."""
        structure = self._structure
        op = self._ops[number]
        self._module.write_attributes((number,))
        attributes = discardable_attributes(op)
        thread = attributes.pop(EXECUTION_THREAD, None)
        edges = [self._edge(value) for value in structure.results[number]]
        out_shardings = self._edge_shardings(edges, op.results)
        if out_shardings:
            attributes[SHARDING] = self._list_attribute(out_shardings)
        elif "out_shardings" in op.attributes:
            attributes[SHARDING] = op.attributes["out_shardings"]
        name = self._function(number, op, thread)
        attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
        call = create_for(op, CALL, attributes)
        for old, new, edge in zip(op.results, call.results, edges, strict=True):
            old.replace_all_uses_with(new)
            if edge != NOTHING:
                self._left.append((edge, new))
        op.erase()
        self._replaced(number, CALL, call)
        self.edit.reordered.update(structure.results[number])

    def _function(self, number: int, op: ir.Operation, thread: ir.Attribute | None) -> str:
        """Move the body to a new function at the end of the module; return its name."""
        first, count, last = self._structure.bodies[number][0]
        values = range(first, first + count)
        edges = [self._edge(value) for value in values]
        arguments = op.regions[0].blocks[0].arguments
        in_shardings = self._edge_shardings(edges, arguments)
        if not in_shardings and "in_shardings" in op.attributes:
            shardings = self._codec.shardings(op.attributes["in_shardings"])
            in_shardings = tuple(map(self._codec.attribute, shardings))
        original_name = op.attributes["name"]
        name = self._names.claim(ir.StringAttr(original_name).value)
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": self._function_type(number, values, op),
            ORIGINAL_NAME: original_name,
        }
        if thread is not None:
            attributes[EXECUTION_THREAD] = thread
        if in_shardings:
            attributes["arg_attrs"] = self._signature(in_shardings)
        function = ir.Operation.create(
            FUNCTION, attributes=attributes, regions=1, loc=op.location, ip=self._end
        )
        self._replaced(last, RETURN, move_body(op, function, RETURN))
        self._functions[number] = self.edit.create_root(FUNCTION, function)
        for edge, argument in zip(edges, function.regions[0].blocks[0].arguments, strict=True):
            if edge != NOTHING:
                self._drop_edge(edge, argument)
        return name

    def _replaced(self, number: int, name: str, op: ir.Operation) -> None:
        """Note that an op has given way to one of other attributes."""
        self._module.renew_attributes(number)
        self.edit.replace(number, name, op)
        self.edit.attributes_changed(number)
        users, orders = self._structure.users, self._structure.use_orders
        for operand in self._structure.operands[number]:
            # The new op is the newest user, which is usual for the last one in the text.
            if operand in orders or users.items[users.starts[operand + 1] - 1] != number:
                self.edit.reordered.add(operand)

    def _function_type(self, number: int, arguments: range, op: ir.Operation) -> ir.Attribute:
        kinds, results = self._structure.types, self._structure.results[number]
        key = tuple([kinds[value] for value in arguments]), tuple([kinds[v] for v in results])
        known = self._types.get(key)
        if known is None:
            inputs = [argument.type for argument in op.regions[0].blocks[0].arguments]
            outputs = [result.type for result in op.results]
            known = ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs))
            self._types[key] = known
        return known

    def _edge(self, owner: int) -> int:
        """Return the edge on a value, if there is one that is its newest use; else NOTHING."""
        structure = self._structure
        users, names = structure.users, structure.names
        start, end = users.starts[owner], users.starts[owner + 1]
        if not any([names[users.items[place]] == DATA_FLOW_EDGE for place in range(start, end)]):
            return NOTHING
        left = [user for user, _ in structure.uses(owner) if user not in self._erased]
        if not left or names[left[0]] != DATA_FLOW_EDGE:
            return NOTHING
        if len(left) > 1:
            self._unheard.add(left[0])
        return left[0]

    def _edge_shardings(self, edges: Sequence[int], owners: Sequence[ir.Value]) -> Shardings:
        """Return the shardings of edges, open where there is none; () where none has any."""
        found = [
            None
            if edge == NOTHING or edge in self._unheard
            else self._ops[edge].attributes.get("sharding")
            for edge in edges
        ]
        known = [sharding for sharding in found if sharding is not None]
        if not known:
            return ()
        if len(known) == len(found):
            return tuple(known)
        mesh = self._codec.sharding(known[0]).mesh
        return tuple(
            self._codec.attribute(TensorSharding.fully_open(mesh, rank(value.type)))
            if entry is None
            else entry
            for entry, value in zip(found, owners, strict=True)
        )

    def _list_attribute(self, shardings: Shardings) -> ir.Attribute:
        known = self._lists.get(shardings)
        if known is None:
            known = self._codec.list_attribute(tuple(map(self._codec.sharding, shardings)))
            self._lists[shardings] = known
        return known

    def _signature(self, shardings: Shardings) -> ir.Attribute:
        known = self._signatures.get(shardings)
        if known is None:
            entries = [ir.DictAttr.get({SHARDING: sharding}) for sharding in shardings]
            known = self._signatures[shardings] = ir.ArrayAttr.get(entries)
        return known

    def finish(self) -> None:
        """Drop the edges on the results of calls, when all computations are exported."""
        for edge, result in self._left:
            self._drop_edge(edge, result)
        self.edit.move_bodies(self._functions)

    def _drop_edge(self, edge: int, owner: ir.Value) -> None:
        """Let the users of an edge on a value use the value."""
        self._module.renew_attributes(edge)
        op = self._ops[edge]
        op.results[0].replace_all_uses_with(owner)
        op.erase()
        self.edit.bypass(edge)
