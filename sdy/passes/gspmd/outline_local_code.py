"""Code that works on shards, where it stands between code on whole tensors, becomes functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, FUNCTION, RETURN
from sdy.ir.symbols import SYMBOL, VISIBILITY, SymbolNames
from sdy.ir.types import rank
from sdy.ir.values import operations
from sdy.passes.base import Pass
from sdy.passes.gspmd.shape_changes import is_constraint, only_user
from sdy.passes.gspmd.xla_names import (
    BODY_FUNCTION,
    CUSTOM_CALL,
    FULL_TO_SHARD,
    MANUAL_AXES,
    SHARD_TO_FULL,
    SHARDING_TARGET,
    create_custom_call,
    target_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["OutlineLocalCode"]

# Copied to where they are used: the same on every device.
_CONSTANTS = frozenset({"stablehlo.constant", "stablehlo.iota", "sdy.constant"})


@dataclass(frozen=True, slots=True)
class OutlineLocalCode(Pass):
    """Makes functions of code that works on shards, for a later import of manual computations.

    GSPMD's users write such code where they need it, from `@SPMDFullToShardShape` custom calls to
    `@SPMDShardToFullShape` custom calls. It becomes the call of a new function. A value that it
    uses without a change of shape is the same on all devices.
    """

    name: ClassVar[str] = "sdy-outline-local-code"

    def run(self, module: IndexedModule) -> None:
        """Outline the code in place, until there is none."""
        names = SymbolNames(module)
        while any([_outline_in(block, module, names) for block in _blocks(module)]):
            module.ops_changed()


def _blocks(module: IndexedModule) -> list[ir.Block]:
    """Return the blocks in which shapes change."""
    blocks: list[ir.Block] = []
    for op in module.ops(CUSTOM_CALL):
        if target_of(op) in (FULL_TO_SHARD, SHARD_TO_FULL) and op.block not in blocks:
            blocks.append(op.block)
    return blocks


def _outline_in(block: ir.Block, module: IndexedModule, names: SymbolNames) -> bool:
    found = _find(_Block(block))
    for code in found:
        code.outline(names.claim(BODY_FUNCTION), module)
    return bool(found)


class _Block:
    """The ops of a block by number, as they are when this is made."""

    def __init__(self, block: ir.Block) -> None:
        self.ops = [op.operation for op in block.operations]
        self._block = block
        self._numbers = {result: n for n, op in enumerate(self.ops) for result in op.results}

    def number_of(self, op: ir.Operation) -> int:
        """Return the number of an op, or of the one around it that is in the block.

        An op that is new, or in no such op any more, has the number -1.
        """
        while op.block != self._block:
            if op.parent is None:
                return -1
            op = op.parent.operation
        if len(op.results):
            return self._numbers.get(op.results[0], -1)
        return self.ops.index(op) if op in self.ops else -1

    def definition(self, value: ir.Value) -> int | None:
        """Return the number of the op that a value is a result of; None where that is outside."""
        return self._numbers.get(value)

    def users(self, number: int) -> Iterator[int]:
        """Yield the numbers of the ops that use a tensor which is a result of an op."""
        for result in self.ops[number].results:
            if isinstance(result.type, ir.ShapedType):
                for use in result.uses:
                    yield self.number_of(use.owner.operation)

    def operands(self, number: int) -> Iterator[ir.Value]:
        """Yield the values from outside that an op and those in it use."""
        op = self.ops[number]
        yield from op.operands
        for inner in operations(op):
            yield from (v for v in inner.operands if not _is_in(v, op))


def _is_in(value: ir.Value, root: ir.Operation) -> bool:
    owner = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
    op = owner.operation
    while op != root:
        if op.parent is None:
            return False
        op = op.parent.operation
    return not isinstance(value, ir.OpResult) or value.owner.operation != root


def _find(block: _Block) -> list[_LocalCode]:
    """Return all code in a block that works on shards and is not the call of a function."""
    starts = [n for n, op in enumerate(block.ops) if target_of(op) == FULL_TO_SHARD]
    reached: dict[str, _LocalCode] = {}
    for start in starts:
        outer = _axes_of_operand(block.ops[start])
        reached.setdefault(outer, _LocalCode(block, outer)).grow(start)
    found: list[_LocalCode] = []
    seen: set[int] = set()
    for start in starts:
        if start in seen:
            continue
        outer = _axes_of_operand(block.ops[start])
        code = _LocalCode(block, outer, reached[outer].starts | reached[outer].local)
        code.grow(start)
        seen |= code.starts | code.local
        if code.local and not code.is_call():
            found.append(code)
    return found


def _axes_of_operand(op: ir.Operation) -> str:
    """Return along which axes the value is local already of which an op makes shards."""
    operand = op.operands[0]
    is_result = not isinstance(operand, ir.BlockArgument)
    return str(operand.owner.operation.attributes.get(MANUAL_AXES)) if is_result else str(None)


@dataclass(slots=True)
class _LocalCode:
    """Ops that work on shards, by their numbers in a block.

    Attributes:
      block: in which they are.
      outer: the axes along which the code around them is local.
      known: all starts and ops that are known to be local, in this code and in other code.
      starts: the custom calls that make shards.
      local: the ops.
      ends: those custom calls that make whole tensors, or a constraint before one.

    """

    block: _Block
    outer: str
    known: set[int] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)
    local: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def grow(self, start: int) -> None:
        """Add a start and all that is local as its result is."""
        todo = [start]
        while todo:
            number = todo.pop()
            if number in self.starts | self.local | self.ends:
                continue
            if self._is_start(number):
                self.starts.add(number)
            elif self._is_end(number):
                self.ends.add(number)
                continue
            else:
                self._add_local(number)
                todo += self._local_definitions(number)
            todo += self.block.users(number)

    def is_call(self) -> bool:
        """Return whether the code is the call of a function already."""
        names = [self.block.ops[number].name for number in self.local]
        return names == [CALL]

    def _add_local(self, number: int) -> None:
        op = self.block.ops[number]
        if number == len(self.block.ops) - 1:
            raise op_error(op, f"a value of one device is used without @{SHARD_TO_FULL}")
        self.local.add(number)

    def _is_start(self, number: int) -> bool:
        op = self.block.ops[number]
        return target_of(op) == FULL_TO_SHARD and _axes_of_operand(op) == self.outer

    def _is_end(self, number: int) -> bool:
        op = self.block.ops[number]
        if is_constraint(op):
            user = only_user(op.results[0])
            op = op if user is None else user
        is_end = target_of(op) == SHARD_TO_FULL
        return is_end and str(op.attributes.get(MANUAL_AXES)) == self.outer

    def _local_definitions(self, number: int) -> Iterator[int]:
        """Yield the ops that an op's operands are local results of."""
        for operand in self.block.operands(number):
            source = self.block.definition(operand)
            if source is not None:
                axes = str(self.block.ops[source].attributes.get(MANUAL_AXES))
                if source in self.known or axes != self.outer:
                    yield source

    def outline(self, name: str, module: IndexedModule) -> None:
        """Make a function of the code, and call it before the first end."""
        ops = self.block.ops
        place = ops[min(self.ends, default=max(self.local) + 1)]
        late = [n for n in self.starts if not ops[n].is_before_in_block(place)]
        if late:
            raise op_error(ops[late[0]], "code of one device has ended before this one is there")
        starts = [ops[number] for number in sorted(self.starts)]
        body = [ops[number] for number in sorted(self.local)]
        ends = [ops[number] for number in sorted(self.ends)]
        captured = self._captured(body, place)
        sources = [start.results[0] for start in starts]
        sources += [_shard_of(value, starts[0], place, module.codec) for value in captured]
        results = _distinct(end.operands[0] for end in ends)
        tokens = [value for value in self._tokens() if value not in results]
        results += tokens
        function = _function(name, sources, results, module)
        block = function.regions[0].blocks[0]
        call = ir.Operation.create(
            CALL,
            results=[result.type for result in results],
            operands=sources,
            attributes={"callee": ir.FlatSymbolRefAttr.get(name, module.context)},
            loc=place.location,
            ip=ir.InsertionPoint(place),
        )
        for end in ends:
            end.operands[0] = call.results[results.index(end.operands[0])]
        for token in tokens:
            self._replace_outside(token, call.results[results.index(token)])
        terminator = ir.Operation.create(
            RETURN, operands=results, loc=place.location, ip=ir.InsertionPoint(block)
        )
        for op in body:
            op.move_before(terminator)
        values = [*(start.results[0] for start in starts), *captured]
        for value, argument in zip(values, block.arguments, strict=True):
            _replace_in(function, value, argument)

    def _tokens(self) -> list[ir.Value]:
        """Return what is no tensor and is used outside."""
        found = []
        for number in sorted(self.local):
            for result in self.block.ops[number].results:
                if not isinstance(result.type, ir.ShapedType):
                    users = {self.block.number_of(use.owner.operation) for use in result.uses}
                    found += [] if users <= self.local else [result]
        return found

    def _replace_outside(self, value: ir.Value, new: ir.Value) -> None:
        for use in list(value.uses):
            if self.block.number_of(use.owner.operation) not in self.local:
                use.owner.operands[use.operand_number] = new

    def _captured(self, body: list[ir.Operation], place: ir.Operation) -> list[ir.Value]:
        """Return what the code uses from outside; constants are copied into it."""
        inner = {result for op in body for result in op.results}
        inner |= {self.block.ops[number].results[0] for number in self.starts}
        used = [v for number in sorted(self.local) for v in self.block.operands(number)]
        captured = []
        for value in _distinct(value for value in used if value not in inner):
            source = None if isinstance(value, ir.BlockArgument) else value.owner.operation
            if source is not None and source.name in _CONSTANTS:
                copy = source.clone(ip=ir.InsertionPoint(body[0])).operation
                for op in body:
                    _replace_in(op, value, copy.results[0])
                body.insert(0, copy)
            else:
                captured.append(value)
            if source is not None and self.block.definition(value) is not None:
                self._check_before(source, place)
        return captured

    def _check_before(self, op: ir.Operation, place: ir.Operation) -> None:
        if not op.is_before_in_block(place):
            raise op_error(op, "code of one device has ended before this value is there")


def _distinct(values: Iterator[ir.Value]) -> list[ir.Value]:
    found: list[ir.Value] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _shard_of(
    value: ir.Value, start: ir.Operation, place: ir.Operation, codec: AttributeCodec
) -> ir.Value:
    """Return a value that is the same on all devices as one of each device."""
    if not isinstance(value.type, ir.ShapedType):
        return value
    mesh = codec.shardings(start.attributes[SHARDING])[0].mesh
    whole = codec.list_attribute((TensorSharding.fully_closed(mesh, rank(value.type)),))
    at, location = ir.InsertionPoint(place), place.location
    outer = create_custom_call(
        SHARDING_TARGET, [value.type], [value], {SHARDING: whole}, at, location
    )
    attributes = {SHARDING: whole, MANUAL_AXES: start.attributes[MANUAL_AXES]}
    operands = [outer.results[0]]
    shard = create_custom_call(FULL_TO_SHARD, [value.type], operands, attributes, at, location)
    return shard.results[0]


def _function(
    name: str, arguments: list[ir.Value], results: list[ir.Value], module: IndexedModule
) -> ir.Operation:
    inputs, outputs = [value.type for value in arguments], [value.type for value in results]
    context = module.context
    function = ir.Operation.create(
        FUNCTION,
        attributes={
            SYMBOL: ir.StringAttr.get(name, context),
            VISIBILITY: ir.StringAttr.get("private", context),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs, context)),
        },
        regions=1,
        loc=module.operation.location,
        ip=ir.InsertionPoint(module.module.body),
    )
    locations = [value.location for value in arguments]
    function.regions[0].blocks.append(*inputs, arg_locs=locations)
    return function


def _replace_in(root: ir.Operation, value: ir.Value, new: ir.Value) -> None:
    """Use another value in an op and those below it."""
    for op in (root, *operations(root)):
        for number, operand in enumerate(op.operands):
            if operand == value:
                op.operands[number] = new
