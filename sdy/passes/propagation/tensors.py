"""The tensors of a module and their shardings while they propagate.

Several values can be one tensor: the targets of a data-flow edge are the edge's result. And a
result of the main function is a tensor that is no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.dialect.sharding import TensorSharding
from sdy.ir import data_flow
from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import FUNCTION
from sdy.ir.rows import filled
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, manual_axes
from sdy.ir.structure import NOTHING
from sdy.ir.types import rank
from sdy.passes.propagation.data_flow import edge_owner, non_owner_targets
from sdy.passes.propagation.interner import NO_SHARDING, Interner, ShardingAttributes
from sdy.passes.propagation.slots import ListSlot, ManualInSlot, SignatureSlot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.slots import Slot

__all__ = ["Tensors"]

_WITH_TENSORS_AS_ARGUMENTS = data_flow.DATA_FLOW_OPS | {FUNCTION}

_EDGE_MISPLACED = (
    "a data-flow edge must be on a result of a while, case, optimization barrier, manual or named "
    "computation, or on an argument of the body of such a computation"
)


def _sharding_field(name: str) -> str:
    """Return the attribute in which ops of that name have the shardings of their results."""
    if name in REGION_OPS:
        return "out_shardings"
    return SHARDING_FIELDS.get(name, SHARDING)


class Tensors:
    """The tensors of a graph.

    Attributes:
      graph: the ops and values.
      interner: of all shardings met.
      of_value: for each value the tensor that it is.
      aliases: the tensors of those values that are not tensors of their own.
      shardings: for each tensor the number of its sharding now.
      siblings: for a tensor that is one of several results of an op, all of them: their
        shardings are one attribute, so that all have one or none has.
      result_tensors: for each function op, the tensors of its results.

    """

    def __init__(self, graph: Graph, codec: AttributeCodec) -> None:
        self.graph = graph
        self.interner = Interner()
        self.siblings: dict[int, tuple[int, ...]] = {}
        self.result_tensors: dict[int, tuple[int, ...]] = {}
        self._codec = codec
        self._slots: dict[int, Slot] = {}
        self._attributes = ShardingAttributes(self.interner, codec)
        self._fields = [_sharding_field(name) for name in graph.distinct_names]
        redirects = self._edge_targets()
        arguments = self._block_arguments(redirects)
        self.of_value = vec[i64](range(graph.value_count))
        for value, tensor in redirects.items():
            self.of_value[value] = tensor
        self.aliases = redirects
        self.shardings = filled(NO_SHARDING, graph.value_count)
        self._nowhere = self._add_tensor()
        self._read_results()
        self._read_arguments(arguments)
        self._read_function_results()
        self._written = vec[i64](self.shardings)

    def _add_tensor(self) -> i64:
        self.shardings = append(self.shardings, NO_SHARDING)
        return len(self.shardings) - 1

    def _edge_targets(self) -> dict[int, int]:
        """Return for every target of an edge the edge's result."""
        graph = self.graph
        targets: dict[int, int] = {}
        for op in graph.ops_named(data_flow.DATA_FLOW_EDGE):
            (owner,), (edge,) = graph.operands[op], graph.results[op]
            if edge_owner(graph, owner) != owner:
                raise op_error(graph.ops[op], _EDGE_MISPLACED)
            if len(graph.users[owner]) != 1:
                continue
            targets[owner] = edge
            targets.update(dict.fromkeys(non_owner_targets(graph, owner), edge))
        return targets

    def _block_arguments(self, redirects: dict[int, int]) -> list[int]:
        """Return the block arguments that no edge speaks for; redirect those of plain loops."""
        graph = self.graph
        kept = []
        for op in graph.structure.bodies:
            if graph.names[op] not in _WITH_TENSORS_AS_ARGUMENTS:
                continue
            for argument in graph.arguments(op):
                if argument in redirects:
                    continue
                owner = edge_owner(graph, argument)
                if owner is not None and owner != argument:
                    redirects[argument] = owner
                else:
                    kept.append(argument)
        return kept

    def _read_results(self) -> None:
        graph = self.graph
        results = graph.results
        has_own_field = vec[i64]([field != SHARDING for field in self._fields])
        is_sharded = graph.attributes_with(SHARDING)
        numbers, names, starts = graph.structure.attributes, graph.name_numbers, results.starts
        for op in range(i64(len(names))):
            count = starts[op + 1] - starts[op]
            if count == 0:
                continue
            if count > 1:
                self.siblings.update(dict.fromkeys(results[op], results[op]))
            if has_own_field[names[op]]:
                self._read_own_field(op, self._fields[names[op]])
            elif is_sharded and numbers[op] in is_sharded:
                attribute = graph.attributes(op)[SHARDING]
                self._set_all(results[op], self._codec.shardings(attribute))

    def _read_own_field(self, op: int, field: str) -> None:
        """Read the shardings of results that an op has in an attribute of its own."""
        attributes, results = self.graph.ops[op].attributes, self.graph.results[op]
        if field not in attributes:
            return
        if field in SHARDING_FIELDS.values():
            self._set(results[0], self._codec.sharding(attributes[field]))
        else:
            self._set_all(results, self._codec.shardings(attributes[field]))

    def _set_all(self, tensors: Iterable[int], shardings: Iterable[TensorSharding]) -> None:
        for tensor, sharding in zip(tensors, shardings, strict=True):
            self._set(tensor, sharding)

    def _read_arguments(self, arguments: Iterable[int]) -> None:
        by_owner: dict[int, list[int]] = {}
        for argument in arguments:
            by_owner.setdefault(self.graph.owner(argument), []).append(argument)
        read: dict[str, Callable[[int, tuple[int, ...]], Slot]] = {
            FUNCTION: self._read_signature,
            data_flow.NAMED_COMPUTATION: self._read_named_computation,
            data_flow.MANUAL_COMPUTATION: self._read_manual_computation,
        }
        for op, values in by_owner.items():
            name = self.graph.names[op]
            if name not in read:
                continue
            slot = read[name](op, tuple(values))
            for value in values:
                self._slots[value] = slot
        self._detach_unshardable()

    def _detach_unshardable(self) -> None:
        """Map block arguments that have no place for a sharding to the tensor that has none."""
        for value in self.graph.structure.arguments:
            if self.of_value[value] == value and value not in self._slots:
                self.of_value[value] = self._nowhere

    def _read_signature(self, function: int, values: tuple[int, ...]) -> Slot:
        op = self.graph.ops[function]
        if "arg_attrs" in op.attributes:
            for value, attributes in zip(values, op.attributes["arg_attrs"], strict=True):
                self._set_from(value, ir.DictAttr(attributes))
        return SignatureSlot(op, "arg_attrs", values)

    def _read_named_computation(self, computation: int, values: tuple[int, ...]) -> Slot:
        op = self.graph.ops[computation]
        self.siblings.update(dict.fromkeys(values, values))
        if "in_shardings" in op.attributes:
            shardings = self._codec.shardings(op.attributes["in_shardings"])
            self._set_all(self.graph.arguments(computation), shardings)
        return ListSlot(op, "in_shardings", values)

    def _read_manual_computation(self, computation: int, values: tuple[int, ...]) -> Slot:
        op = self.graph.ops[computation]
        names = manual_axes(op)
        shardings = self._codec.shardings(op.attributes["in_shardings"])
        inner = [erase_manual_axes(sharding, names) for sharding in shardings]
        self._set_all(self.graph.arguments(computation), inner)
        return ManualInSlot(op, "in_shardings", values, names)

    def _read_function_results(self) -> None:
        for index in self.graph.ops_named(FUNCTION):
            op = self.graph.ops[index]
            count = len(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).results)
            tensors = tuple(self._add_tensor() for _ in range(count))
            self.result_tensors[index] = tensors
            slot = SignatureSlot(op, "res_attrs", tensors)
            if "res_attrs" in op.attributes:
                for tensor, attributes in zip(tensors, op.attributes["res_attrs"], strict=True):
                    self._set_from(tensor, ir.DictAttr(attributes))
            self._slots.update(dict.fromkeys(tensors, slot))

    def _set(self, tensor: int, sharding: TensorSharding) -> None:
        self.shardings[tensor] = self.interner.number(sharding)

    def _set_from(self, tensor: int, attributes: ir.DictAttr) -> None:
        if SHARDING in attributes:
            self._set(tensor, self._codec.sharding(attributes[SHARDING]))

    def assign(self, tensor: i64, number: i64) -> tuple[int, ...]:
        """Set the sharding of a tensor; return the siblings that got an open one with it."""
        if tensor == self._nowhere:
            return ()
        if self.siblings and self.shardings[tensor] == NO_SHARDING and tensor in self.siblings:
            self.shardings[tensor] = number
            return self._open_siblings(tensor, number)
        self.shardings[tensor] = number
        return ()

    def _open_siblings(self, tensor: int, number: int) -> tuple[int, ...]:
        opened = tuple([t for t in self.siblings[tensor] if t != tensor])
        mesh = self.interner.known(number).mesh
        for sibling in opened:
            sibling_rank = rank(self.graph.type_of(sibling))
            self._set(sibling, TensorSharding.fully_open(mesh, sibling_rank))
        return opened

    def sharding(self, tensor: int) -> TensorSharding | None:
        """Return the sharding of a tensor now."""
        return self.interner.sharding(self.shardings[tensor])

    def with_priorities(self) -> list[int]:
        """Return the tensors whose sharding gives a dimension a priority.

        The values that a data-flow edge speaks for are left alone.
        """
        has_priority = [
            sharding is not None and any(d.priority is not None for d in sharding.dimensions)
            for sharding in self.interner.all_shardings()
        ]
        if not any(has_priority):
            return []
        return [
            tensor
            for tensor, number in enumerate(self.shardings)
            if has_priority[number] and tensor not in self.aliases
        ]

    def write_back(self, is_erased: vec[i64]) -> tuple[list[ir.Attribute], vec[i64]]:
        """Write the shardings that changed into the module, but for ops that are erased.

        Returns the distinct attributes of ops that have no field of their own for them, and for
        each op which it is to have; NOTHING for none. Those are not written.
        """
        lists: dict[ir.Attribute, int] = {}
        slots: dict[Slot, None] = {}
        graph, shardings, old = self.graph, self.shardings, self._written
        lists_of_one = filled(NOTHING, self.interner.count)
        numbers = filled(NOTHING, len(graph.names))
        is_plain = vec[i64]([int(field == SHARDING) for field in self._fields])
        producers, names, starts = graph.producers, graph.name_numbers, graph.results.starts
        written: i64 = NOTHING
        for tensor in range(i64(len(shardings))):
            sharding = shardings[tensor]
            if sharding == old[tensor]:
                continue
            op = producers[tensor] if tensor < graph.value_count else NOTHING
            if op == NOTHING:
                slots[self._slots[tensor]] = None
            elif numbers[op] != NOTHING or is_erased[op] or op == written:
                continue
            elif not is_plain[names[op]]:
                written = op
                self._write_own_field(op)
            elif starts[op + 1] - starts[op] > 1:
                attribute = self._attributes.list_attribute(self._shardings_of_results(op))
                numbers[op] = lists.setdefault(attribute, len(lists))
            else:
                if lists_of_one[sharding] == NOTHING:
                    attribute = self._attributes.list_attribute((sharding,))
                    lists_of_one[sharding] = lists.setdefault(attribute, len(lists))
                numbers[op] = lists_of_one[sharding]
        for slot in slots:
            slot.write([int(shardings[t]) for t in slot.tensors], self._attributes)
        self._written = vec[i64](shardings)
        return list(lists), numbers

    def _shardings_of_results(self, op: int) -> tuple[int, ...]:
        return tuple([int(self.shardings[result]) for result in self.graph.results[op]])

    def _write_own_field(self, op: int) -> None:
        numbers, attributes = self._shardings_of_results(op), self._attributes
        field = self._fields[self.graph.name_numbers[op]]
        is_list = field not in SHARDING_FIELDS.values()
        attribute = (
            attributes.list_attribute(numbers) if is_list else attributes.attribute(numbers[0])
        )
        self.graph.ops[op].attributes[field] = attribute
