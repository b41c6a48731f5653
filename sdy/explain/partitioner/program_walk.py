"""The points of communication of a whole program, foretold op by op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.dialect.sharding import TensorSharding
from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.explicit import EXPLICIT, explicit_groups
from sdy.explain.partitioner.op_case import OpCase, OpExchange, local_bytes, reshard_tensor
from sdy.explain.partitioner.op_details import detail_of
from sdy.explain.partitioner.strategies import exchanges_of
from sdy.explain.partitioner.tensor_reader import TensorReader
from sdy.explain.partitioner.tiling import tiling_of
from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow import (
    DATA_FLOW_OPS,
    MANUAL_COMPUTATION,
    edge_source_places,
    region_terminator,
)
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    BARRIER,
    CALL,
    COLLECTIVE_PERMUTE,
    CONSTRAINT,
    FUNCTION,
    MHLO_COPY,
    REDUCE_SCATTER,
    RESHARD,
    RETURN,
)
from sdy.ir.op_traits import CONSTANT_LIKE, erasable_when_unused, is_terminator
from sdy.ir.sharding_access import REGION_OPS, manual_axes
from sdy.ir.symbols import symbol_name
from sdy.ir.types import shape
from sdy.ir.value_sharding import function_result_sharding
from sdy.passes.export_pipeline.explicit_reshards.op_rules import read_op_rule, rule_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.explain.partitioner.op_case import Tensor
    from sdy.explain.partitioner.tiling import Tiling

__all__ = ["PointOfCommunication", "foretell"]

_COPIES = frozenset(
    {
        ALL_GATHER,
        ALL_REDUCE,
        ALL_SLICE,
        ALL_TO_ALL,
        BARRIER,
        COLLECTIVE_PERMUTE,
        CONSTRAINT,
        MHLO_COPY,
        REDUCE_SCATTER,
        RESHARD,
    }
)
"""Ops that give the same tensor, sharded in another way."""


@dataclass(frozen=True, slots=True, eq=False)
class PointOfCommunication:
    """Where the partitioner adds collectives.

    Attributes:
      op: the op that needs them.
      value: the tensor that is moved.
      exchange: what is added.

    """

    op: ir.Operation
    value: ir.Value
    exchange: OpExchange


def foretell(module: ir.Module) -> list[PointOfCommunication]:
    """Return where the partitioner adds collectives to a propagated module.

    A tensor that several ops need in the same sharding is resharded once. A tensor that an op
    needs as it was before a copy is taken from there.
    """
    indexed = IndexedModule(module)
    mesh = next((mesh for mesh in indexed.meshes.values() if not mesh.is_maximal), None)
    return [] if mesh is None else list(_Walk(indexed, mesh).run())


class _Walk:
    """One walk over a module; an op like one that was met before is looked up."""

    def __init__(self, module: IndexedModule, mesh: Mesh) -> None:
        self._mesh = mesh
        self._codec = module.codec
        self._tensors = TensorReader(module, mesh)
        self._exchanges: dict[Hashable, tuple[OpExchange, ...]] = {}
        self._done: set[tuple[ir.Value, Tiling]] = set()
        self._functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        self._main = next(
            (op for name, op in self._functions.items() if name == "main"),
            next(iter(self._functions.values()), None),
        )

    def run(self) -> Iterator[PointOfCommunication]:
        for function in self._functions.values():
            for op in _tensor_ops(function):
                yield from self._visit(op, op.name)

    def _visit(self, op: ir.Operation, name: str) -> Iterator[PointOfCommunication]:
        if name == RETURN:
            function = op.parent.operation
            if function == self._main:
                for index, value in enumerate(op.operands):
                    wanted = function_result_sharding(function, index, self._codec)
                    yield from self._use(op, value, wanted)
        elif name in DATA_FLOW_OPS:
            yield from self._pass_regions(op, name)
        elif name == CALL:
            yield from self._pass_arguments(op)
        elif name in EXPLICIT:
            yield from self._explicit(op, name)
        elif not (_is_passive(name) or not len(op.operands) or _is_dead(op)):
            yield from self._visit_op(op, name)

    def _pass_regions(self, op: ir.Operation, name: str) -> Iterator[PointOfCommunication]:
        """Yield the reshards on the ways into the regions of an op, and out of them."""
        manual = manual_axes(op) if name == MANUAL_COMPUTATION else frozenset()
        for result in op.results:
            sharding = self._tensors.sharding(result)
            if sharding is not None and manual:
                sharding = erase_manual_axes(sharding, manual)
            for user, index in edge_source_places(result):
                yield from self._use(user, user.operands[index], sharding)
        if name in REGION_OPS:
            for value, sharding in zip(
                op.operands, self._codec.shardings(op.attributes["in_shardings"]), strict=True
            ):
                yield from self._use(op, value, sharding)

    def _explicit(self, op: ir.Operation, name: str) -> Iterator[PointOfCommunication]:
        """Yield the collectives that the program itself has, in a manual computation."""
        for index, result in enumerate(op.results):
            tensor = self._tensors.read(result)
            if tensor is not None:
                groups = explicit_groups(op, tensor.sharding.bound_mesh)
                size = local_bytes(tensor, tensor.sharding)
                exchange = Exchange(EXPLICIT[name], size, groups)
                sharding = tensor.sharding
                yield PointOfCommunication(
                    op, result, OpExchange("explicit", index, sharding, sharding, (exchange,))
                )

    def _pass_arguments(self, call: ir.Operation) -> Iterator[PointOfCommunication]:
        function = self._functions[callee_name(call)]
        if not len(function.regions[0].blocks):
            return
        for value, argument in zip(
            call.operands, function.regions[0].blocks[0].arguments, strict=True
        ):
            yield from self._use(call, value, self._tensors.sharding(argument))

    def _visit_op(self, op: ir.Operation, name: str) -> Iterator[PointOfCommunication]:
        found = self._exchanges_of(op, name)
        for index, value in enumerate(op.operands):
            steps = [e for e in found if e.role == "operand" and e.index == index]
            for exchange in steps:
                yield from self._use(op, value, exchange.to, exchange)
            if not steps:
                yield from self._use(op, value, self._tensors.sharding(value))
        for exchange in found:
            if exchange.role == "operand" or not exchange.exchanges:
                continue
            values = op.operands if exchange.role in ("copy", "halo") else op.results
            value = values[exchange.index]
            if exchange.role != "result" or not _is_unused(value):
                yield PointOfCommunication(op, value, exchange)

    def _exchanges_of(self, op: ir.Operation, name: str) -> tuple[OpExchange, ...]:
        operands = self._tensors.types.of_operands(op)
        results = self._tensors.types.of_results(op, name)
        detail = detail_of(op, name)
        manual = _manual_axes_around(op)
        key = name, rule_key(op, name), detail, operands, results, manual
        found = self._exchanges.get(key)
        if found is None:
            tensors = [self._tensors.read(value) for value in (*op.operands, *op.results)]
            known = [tensor for tensor in tensors if tensor is not None]
            mesh, count = self._mesh_of(known), len(op.operands)
            found = ()
            if len(known) == len(tensors) and mesh is not None:
                taken, given = tuple(known[:count]), tuple(known[count:])
                case = OpCase(
                    name, read_op_rule(op, self._codec), mesh, taken, given, detail, manual
                )
                found = exchanges_of(case)
            self._exchanges[key] = found
        return found

    def _mesh_of(self, tensors: Sequence[Tensor]) -> Mesh | None:
        """Return the mesh over which tensors are split; None where there are several."""
        shardings = [tensor.sharding for tensor in tensors]
        meshes = [sharding.bound_mesh for sharding in shardings if not sharding.has_no_axes]
        mesh = meshes[0] if meshes else self._mesh
        is_one = all(mesh.equals(other, ignore_device_ids=True) for other in meshes)
        return mesh if is_one else None

    def _use(
        self,
        op: ir.Operation,
        value: ir.Value,
        sharding: TensorSharding | None,
        planned: OpExchange | None = None,
    ) -> Iterator[PointOfCommunication]:
        """Yield what it takes to have a tensor in a sharding, where an op needs it so.

        Args:
          op: that needs it.
          value: the tensor.
          sharding: the one that it needs; None where it is replicated.
          planned: how the op does it, if not by a reshard.

        """
        tensor = self._tensors.read(value)
        if tensor is None or _is_splat(value):
            return
        wanted = sharding or TensorSharding.fully_closed(self._mesh, len(tensor.shape))
        source = self._before_copy(value)
        if source is not None:
            before, copy = source
            if tiling_of(before) == tiling_of(wanted):
                yield from self._use(op, copy[1], before)
                return
            yield from self._use(copy[0], copy[1], tensor.sharding)
        reshards = reshard_tensor("operand", 0, tensor, tensor.sharding, wanted)
        for exchange in [planned] if planned else reshards:
            key = value, tiling_of(wanted)
            if exchange.exchanges and key not in self._done:
                self._done.add(key)
                yield PointOfCommunication(op, value, exchange)

    def _before_copy(
        self, value: ir.Value
    ) -> tuple[TensorSharding, tuple[ir.Operation, ir.Value]] | None:
        """Return what a copy, or a function that is called, is given, and how that is sharded."""
        if not isinstance(value, ir.OpResult):
            return None
        op = value.owner.operation
        if op.name in _COPIES:
            place = op, op.operands[0]
        elif op.name == CALL and len(self._functions[callee_name(op)].regions[0].blocks):
            end = region_terminator(self._functions[callee_name(op)].regions[0])
            place = end, end.operands[ir.OpResult(value).result_number]
        else:
            return None
        tensor = self._tensors.read(place[1])
        return None if tensor is None else (tensor.sharding, place)


def _is_passive(name: str) -> bool:
    """Return whether ops of that name never add anything by themselves."""
    return name in _COPIES or name in CONSTANT_LIKE or is_terminator(name)


def _manual_axes_around(op: ir.Operation) -> tuple[str, ...]:
    """Return the axes on which the bodies around an op are local, sorted."""
    axes: set[str] = set()
    parent = op.parent
    while parent is not None:
        if parent.operation.name == MANUAL_COMPUTATION:
            axes |= manual_axes(parent.operation)
        parent = parent.operation.parent
    return tuple(sorted(axes))


def _is_dead(op: ir.Operation) -> bool:
    return all(map(_is_unused, op.results)) and erasable_when_unused(op)


def _is_unused(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is None


def _is_splat(value: ir.Value) -> bool:
    """Return whether all elements are the same scalar: each device makes what it needs."""
    if not isinstance(value, ir.OpResult):
        return False
    op = value.owner.operation
    return op.name == "stablehlo.broadcast_in_dim" and not shape(op.operands[0].type)


def _tensor_ops(op: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the ops in an op that work on whole tensors, in the order of the text."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                yield inner
                if inner.name in DATA_FLOW_OPS:
                    yield from _tensor_ops(inner)
