"""The tensors of a module and their shardings while they propagate.

Several values can be one tensor: the targets of a data-flow edge are the edge's result. And a
result of the main function is a tensor that is no value. Shardings are interned: a number stands
for each distinct one, 0 for none at all, which is not the same as an open empty one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.dialect.sharding import TensorSharding
from sdy.ir import data_flow
from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, manual_axes
from sdy.ir.structure import NOTHING
from sdy.ir.types import rank
from sdy.passes.propagation.data_flow import edge_owner, non_owner_targets
from sdy.passes.propagation.slots import ListSlot, ManualInSlot, SignatureSlot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.slots import Slot

__all__ = ["NO_SHARDING", "Interner", "Tensors"]

NO_SHARDING = 0

_WITH_TENSORS_AS_ARGUMENTS = data_flow.DATA_FLOW_OPS | {FUNCTION}

_EDGE_MISPLACED = (
    "a data-flow edge must be on a result of a while, case, optimization barrier, manual or named "
    "computation, or on an argument of the body of such a computation"
)


class Interner:
    """A number for every distinct sharding."""

    def __init__(self) -> None:
        self._values: list[TensorSharding | None] = [None]
        self._numbers: dict[TensorSharding, int] = {}

    def number(self, sharding: TensorSharding | None) -> int:
        """Return the number of a sharding."""
        if sharding is None:
            return NO_SHARDING
        number = self._numbers.setdefault(sharding, len(self._values))
        if number == len(self._values):
            self._values.append(sharding)
        return number

    def sharding(self, number: int) -> TensorSharding | None:
        """Return the sharding of a number."""
        return self._values[number]

    def known(self) -> list[TensorSharding | None]:
        """Return all shardings, by number."""
        return list(self._values)


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
        self._list_attributes: dict[tuple[int, ...], ir.Attribute] = {}
        self.written_lists: dict[int, ir.Attribute | None] = {}
        self._fields = {name: _sharding_field(name) for name in set(graph.names)}
        redirects = self._edge_targets()
        arguments = self._block_arguments(redirects)
        self.of_value = list(range(graph.value_count))
        for value, tensor in redirects.items():
            self.of_value[value] = tensor
        self.aliases = redirects
        self.shardings = [NO_SHARDING] * graph.value_count
        self._nowhere = self._add_tensor()
        self._read_results()
        self._read_arguments(arguments)
        self._read_function_results()
        self._written = self.shardings.copy()

    def _add_tensor(self) -> int:
        self.shardings.append(NO_SHARDING)
        return len(self.shardings) - 1

    def _edge_targets(self) -> dict[int, int]:
        """Return for every target of an edge the edge's result."""
        graph = self.graph
        targets: dict[int, int] = {}
        for op, name in enumerate(graph.names):
            if name != data_flow.DATA_FLOW_EDGE:
                continue
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
        is_sharded: dict[int, bool] = {}
        fields = self._fields
        numbers = graph.structure.attributes
        for op, results in enumerate(graph.results):
            if not results:
                continue
            if len(results) > 1:
                self.siblings.update(dict.fromkeys(results, results))
            field = fields[graph.names[op]]
            if field != SHARDING:
                self._read_own_field(op, field)
                continue
            number = numbers[op]
            known = is_sharded.get(number)
            if known is None:
                known = is_sharded[number] = SHARDING in graph.attributes(op)
            if known:
                self._set_all(results, self._codec.shardings(graph.attributes(op)[SHARDING]))

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
        for index, name in enumerate(self.graph.names):
            if name != FUNCTION:
                continue
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

    def assign(self, tensor: int, number: int) -> tuple[int, ...]:
        """Set the sharding of a tensor; return the siblings that got an open one with it."""
        if tensor == self._nowhere:
            return ()
        opened: tuple[int, ...] = ()
        if self.shardings[tensor] == NO_SHARDING and tensor in self.siblings:
            opened = tuple(t for t in self.siblings[tensor] if t != tensor)
            mesh = self.known(number).mesh
            for sibling in opened:
                sibling_rank = rank(self.graph.type_of(sibling))
                self._set(sibling, TensorSharding.fully_open(mesh, sibling_rank))
        self.shardings[tensor] = number
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
            for sharding in self.interner.known()
        ]
        if not any(has_priority):
            return []
        return [
            tensor
            for tensor, number in enumerate(self.shardings)
            if has_priority[number] and tensor not in self.aliases
        ]

    def known(self, number: int) -> TensorSharding:
        """Return the sharding of a number that is not that of no sharding."""
        sharding = self.interner.sharding(number)
        if sharding is None:
            raise ValueError("a tensor cannot lose its sharding")
        return sharding

    def write_back(self, is_erased: Sequence[int]) -> None:
        """Write the shardings that changed into the module, but for ops that are erased."""
        producers, value_count = self.graph.producers, self.graph.value_count
        written = NOTHING
        slots: dict[Slot, None] = {}
        for tensor, number in enumerate(self.shardings):
            if number == self._written[tensor]:
                continue
            op = producers[tensor] if tensor < value_count else NOTHING
            if op == NOTHING:
                slots[self._slots[tensor]] = None
            elif op != written and not is_erased[op]:
                written = op
                self._write_results(op)
        for slot in slots:
            slot.write([self.sharding(t) for t in slot.tensors], self._codec)
        self._written = self.shardings.copy()

    def _write_results(self, op: int) -> None:
        shardings = self.shardings
        numbers = tuple([shardings[result] for result in self.graph.results[op]])
        field = self._fields[self.graph.names[op]]
        if field == SHARDING:
            attribute = self.written_lists[op] = self._list_attribute(numbers)
        elif field in SHARDING_FIELDS.values():
            attribute = self._attribute(numbers[0])
        else:
            attribute = self._list_attribute(numbers)
        self.graph.ops[op].attributes[field] = attribute

    def _attribute(self, number: int) -> ir.Attribute:
        return self._codec.attribute(self.known(number))

    def _list_attribute(self, numbers: tuple[int, ...]) -> ir.Attribute:
        known = self._list_attributes.get(numbers)
        if known is None:
            known = self._codec.list_attribute(tuple(map(self.known, numbers)))
            self._list_attributes[numbers] = known
        return known
