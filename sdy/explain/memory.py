"""The memory that one device needs: arguments, results, and the most that is alive at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.explain.numbering import numbered_ops
from sdy.explain.partitioner.program_walk import foretell
from sdy.explain.partitioner.tensor_reader import element_bytes
from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow import DATA_FLOW_OPS, WHILE
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.main_function import main_function
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.op_traits import CONSTANT_LIKE, is_elementwise, is_terminator
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.symbols import symbol_name
from sdy.ir.values import signature
from sdy.passes.export_pipeline.explicit_reshards.value_types import ValueTypes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.traced import Traced

__all__ = ["Memory", "memory", "memory_of"]

_FREE = CONSTANT_LIKE | {"stablehlo.iota", "stablehlo.broadcast_in_dim"}
_VIEWS = frozenset({"stablehlo.reshape", "stablehlo.optimization_barrier"})
_IN_PLACE = frozenset({"stablehlo.dynamic_update_slice", "stablehlo.scatter"})
_FUSED_INTO = frozenset({"stablehlo.reduce"})


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one device for one run, in bytes; an estimate from the program alone.

    Attributes:
      arguments: for the parts of the arguments.
      results: for the parts of the results.
      peak: the most that is alive at once, arguments and results included.
      peak_op: the number of the op at which that is; None where the program has no op.

    """

    arguments: int
    results: int
    peak: int
    peak_op: int | None


def memory(source: Traced) -> Memory:
    """Return the memory that one device needs for a propagated program."""
    found, op = memory_of(source.exported)
    number = None if op is None else _number(op, source)
    return Memory(found.arguments, found.results, found.peak, number)


def _number(op: ir.Operation, source: Traced) -> int | None:
    return numbered_ops(source.exported, source.program).get(op)


def memory_of(module: ir.Module) -> tuple[Memory, ir.Operation | None]:
    """Return the memory for a propagated module, and the op at its peak.

    Values live from their op to their last use, as the program orders them. XLA computes chains
    of elementwise ops at once, so what only such an op reads has no place; nor have constants
    and broadcasts; a reshape is its operand. An op that is in place of a dying operand of its
    size takes that one's place. What a reshard brings to an op is alive while the op runs.
    """
    indexed = IndexedModule(module)
    main = main_function(indexed)
    if main is None or not len(main.regions[0].blocks):
        return Memory(0, 0, 0, None), None
    sizes = _Sizes(indexed)
    arguments = sum(map(sizes.of, main.regions[0].blocks[0].arguments))
    results = sizes.of_results(main)
    peak = _Liveness(indexed, sizes, _gathered(module)).of_block(main.regions[0].blocks[0])
    return Memory(arguments, results, arguments + peak.bytes, None), peak.op


def _gathered(module: ir.Module) -> dict[ir.Operation, int]:
    """Return for each op the bytes of what its tensors are gathered to, all together."""
    found: dict[ir.Operation, int] = {}
    for point in foretell(module):
        if point.exchange.role in ("operand", "result") and not is_terminator(point.op.name):
            size = max(exchange.bytes for exchange in point.exchange.exchanges)
            found[point.op] = found.get(point.op, 0) + size
    return found


class _Sizes:
    """The bytes of the shards of values."""

    def __init__(self, module: IndexedModule) -> None:
        self._types = ValueTypes(module)
        self._codec = module.codec
        self._known: dict[int, int] = {}

    def of(self, value: ir.Value) -> int:
        """Return the bytes of the largest shard of a value; 0 for what is no tensor."""
        number = self._types.of(value)
        if number not in self._known:
            type_, attribute = self._types.type(number)
            sharding = None if attribute is None else self._codec.sharding(attribute)
            self._known[number] = _bytes(type_, sharding)
        return self._known[number]

    def of_results(self, function: ir.Operation) -> int:
        """Return the bytes of the results of a function, as it says that they are sharded."""
        entries = signature_entries(function, "res_attrs")
        shardings = [
            self._codec.sharding(entry[SHARDING]) if SHARDING in entry else None
            for entry in entries
        ]
        return sum(map(_bytes, signature(function).results, shardings))


def _bytes(type_: ir.Type, sharding: TensorSharding | None) -> int:
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return 0
    shape = type_.shape if sharding is None else sharding.local_shape(type_.shape)
    return math.prod(shape) * element_bytes(type_.element_type)


@dataclass(frozen=True, slots=True)
class _Peak:
    """The most that is alive at once of what a block defines, and where that is."""

    bytes: int
    op: ir.Operation | None


class _Liveness:
    """Runs through blocks and adds up what is alive."""

    def __init__(
        self, module: IndexedModule, sizes: _Sizes, gathered: dict[ir.Operation, int]
    ) -> None:
        self._sizes = sizes
        self._gathered = gathered
        self._functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        self._calls: dict[str, _Peak] = {}

    def of_block(self, block: ir.Block) -> _Peak:
        """Return the peak of the values that the ops of a block define; not of its arguments."""
        lives = _Lives(block, self._sizes)
        alive, peak = 0, _Peak(0, None)
        for position, op in enumerate(lives.ops):
            born, dying = lives.born[position], lives.dying[position]
            reused = min(born, lives.reusable(op, position))
            inside = self._inside(op)
            now = alive + born - reused + inside.bytes + self._gathered.get(op, 0)
            if now > peak.bytes:
                peak = _Peak(now, inside.op or op)
            alive += born - dying
        return peak

    def _inside(self, op: ir.Operation) -> _Peak:
        """Return what the regions of an op, or the function that it calls, need beside results."""
        if op.name == CALL:
            name = callee_name(op)
            if name not in self._calls:
                blocks = self._functions[name].regions[0].blocks
                self._calls[name] = self.of_block(blocks[0]) if len(blocks) else _Peak(0, None)
            found = self._calls[name]
        elif op.name in DATA_FLOW_OPS:
            blocks = [block for region in op.regions for block in region.blocks]
            found = max(map(self.of_block, blocks), key=lambda p: p.bytes, default=_Peak(0, None))
        else:
            return _Peak(0, None)
        # What a body gives is what the op gives; a loop writes it to the same place each turn,
        # but needs what it had until then.
        results = 0 if op.name == WHILE else sum(map(self._sizes.of, op.results))
        return _Peak(max(0, found.bytes - results), found.op)


class _Lives:
    """When the results of the ops of a block are born and die.

    Attributes:
      ops: of the block, in order.
      born: for each op the bytes of its results that have a place of their own.
      dying: for each op the bytes of what is used last there.

    """

    def __init__(self, block: ir.Block, sizes: _Sizes) -> None:
        self.ops: list[ir.Operation] = [view.operation for view in block.operations]
        self.born = [0] * len(self.ops)
        self.dying = [0] * len(self.ops)
        self._names = [op.name for op in self.ops]
        self._positions = {op: position for position, op in enumerate(self.ops)}
        has_place = [True] * len(self.ops)
        ends = list(range(len(self.ops)))
        for position in reversed(range(len(self.ops))):
            users = self._users(self.ops[position])
            has_place[position] = self._has_place(position, users)
            # What an op without a place gives is computed where it is used.
            ends[position] = max(
                (user if has_place[user] else ends[user] for user in users), default=position
            )
            if has_place[position]:
                bytes_ = sum(map(sizes.of, self.ops[position].results))
                self.born[position] = bytes_
                self.dying[ends[position]] += bytes_

    def _has_place(self, position: int, users: Sequence[int]) -> bool:
        name = self._names[position]
        if name in _FREE or name in _VIEWS:
            return False
        is_fused = len(users) == 1 and _fuses(self._names[users[0]])
        return is_terminator(name) or not (is_elementwise(name) and is_fused)

    def _users(self, op: ir.Operation) -> list[int]:
        """Return where in the block the results of an op are used, in regions too."""
        found: set[int] = set()
        for result in op.results:
            for use in result.uses:
                user = use.owner.operation
                while user not in self._positions:
                    user = user.parent.operation
                found.add(self._positions[user])
        return sorted(found)

    def reusable(self, op: ir.Operation, position: int) -> int:
        """Return the bytes of what dies at an op that may write in its place."""
        name = self._names[position]
        writes_in_place = is_elementwise(name) or name in _IN_PLACE or op.name == WHILE
        return self.dying[position] if writes_in_place else 0


def _fuses(name: str) -> bool:
    return is_elementwise(name) or name in _FUSED_INTO
