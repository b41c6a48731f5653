"""A greedy pattern driver: rewrites ops until no pattern matches, in MLIR's order.

The worklist is that of MLIR's greedy driver: last in, first out; an op that is queued keeps its
place; queueing an op queues its ancestors after it. So where patterns compete, the same one wins.
Unlike MLIR's, the driver starts from those ops alone for which there is a pattern or that nothing
uses, and looks at others when a rewrite touches them. It does not fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.ir.op_names import MODULE
from sdy.ir.op_traits import erasable_when_unused
from sdy.passes.canonicalize.operations import users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Pattern", "Rewrite", "Rewriter", "pattern", "rewrite_greedily"]


Rewrite: TypeAlias = "Callable[[ir.Operation, Rewriter], bool]"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One rewrite of one kind of op.

    Attributes:
      op_name: of the ops that it is tried on.
      rewrite: changes the op if it matches and returns whether it did.
      benefit: patterns of greater benefit are tried first.
      label: by which options such as `enable-patterns` select it, besides its own name.

    """

    op_name: str
    rewrite: Rewrite
    benefit: int = 1
    label: str | None = None

    @property
    def name(self) -> str:
        """The name by which options select the pattern."""
        return self.rewrite.__name__.replace("_", "-")


def pattern(
    op_name: str, *, benefit: int = 1, label: str | None = None
) -> Callable[[Rewrite], Pattern]:
    """Return the decorator that makes a pattern of a function."""
    return lambda rewrite: Pattern(op_name, rewrite, benefit, label)


class _Worklist:
    """Ops to visit: a stack from which any op can be taken out.

    The hash of an op changes with its operands and attributes, so an op is known by its first
    result, else by its first block. An op with neither is left out: no pattern is for such an op,
    and none is erased because nothing uses it.
    """

    def __init__(self) -> None:
        self._stack: list[ir.Operation | None] = []
        self._places: dict[ir.Value | ir.Block, int] = {}

    def push(self, op: ir.Operation) -> None:
        key = _identity(op)
        if key is not None and key not in self._places:
            self._places[key] = len(self._stack)
            self._stack.append(op)

    def pop(self) -> ir.Operation | None:
        while self._stack:
            op = self._stack.pop()
            if op is not None:
                self._places.pop(_identity(op), None)
                return op
        return None

    def discard(self, op: ir.Operation) -> None:
        place = self._places.pop(_identity(op), None)
        if place is not None:
            self._stack[place] = None


def _identity(op: ir.Operation) -> ir.Value | ir.Block | None:
    results = op.results
    if len(results):
        return results[0]
    blocks = (block for region in op.regions for block in region.blocks)
    return next(blocks, None)


class Rewriter:
    """Changes the IR for patterns and queues what the change may affect.

    Handles to ops that were replaced or erased must not be used.
    """

    def __init__(self, module: IndexedModule) -> None:
        self.codec: AttributeCodec = module.codec
        self.context: ir.Context = module.context
        self.worklist = _Worklist()

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute],
        result_type: ir.Type,
        *,
        at: ir.InsertionPoint,
        location: ir.Location,
    ) -> ir.Value:
        """Return the result of a new op with one result."""
        op = ir.Operation.create(
            name, [result_type], operands, dict(attributes), loc=location, ip=at
        )
        self._queue(op)
        return op.result

    def created(self, op: ir.Operation) -> None:
        """Tell of an op that a pattern has created without the rewriter."""
        self._queue(op)

    def clone(self, op: ir.Operation, operand: ir.Value, *, at: ir.InsertionPoint) -> ir.Value:
        """Return the result of a copy of a unary op, applied to `operand`."""
        copy = op.clone(ip=at).operation
        self._queue(copy)
        copy.operands[0] = operand
        return copy.result

    def replace(self, op: ir.Operation, values: Sequence[ir.Value]) -> None:
        """Let the users of an op use `values` instead, and erase it."""
        for result, value in zip(op.results, values, strict=True):
            affected = list(users(result))
            result.replace_all_uses_with(value)
            for user in affected:
                self._queue(user)
        self.erase(op)

    def erase(self, op: ir.Operation) -> None:
        """Erase an op without uses, and what is in it."""
        for nested in _post_order(op):
            self._queue_producers(nested)
            self.worklist.discard(nested)
        op.erase()

    def forget(self, op: ir.Operation) -> None:
        """Take an op, and what is in it, off the worklist."""
        for nested in _post_order(op):
            self.worklist.discard(nested)

    def _queue(self, op: ir.Operation) -> None:
        ancestor: ir.Operation | None = op
        while ancestor is not None and ancestor.name != MODULE:
            self.worklist.push(ancestor)
            parent = ancestor.parent
            ancestor = None if parent is None else parent.operation

    def _queue_producers(self, op: ir.Operation) -> None:
        """Queue the producers that will have one user or none when `op` is gone."""
        for operand in op.operands:
            if not isinstance(operand, ir.OpResult):
                continue
            if _has_at_most_one_user_besides(op, operand):
                self._queue(operand.owner.operation)


def _has_at_most_one_user_besides(op: ir.Operation, value: ir.Value) -> bool:
    others: list[ir.Operation] = []
    for user in users(value):
        if user != op and user not in others:
            others.append(user)
            if len(others) > 1:
                return False
    return True


def _post_order(op: ir.Operation) -> Iterable[ir.Operation]:
    """Yield what is in `op`, last op first, then `op`."""
    for region in reversed(op.regions):
        for block in region.blocks:
            for nested in reversed(block.operations):
                yield from _post_order(nested.operation)
    yield op


def rewrite_greedily(
    module: IndexedModule, patterns: Iterable[Pattern], *, top_down: bool = True
) -> bool:
    """Erase dead ops, rewrite those for which there is a pattern; return whether any changed.

    Ops that a rewrite touches are visited again. One call is one iteration of MLIR's driver: call
    it again until it returns False.
    """
    by_name = _by_name(patterns)
    rewriter = Rewriter(module)
    for op in _first_ops(module, by_name, top_down=top_down):
        rewriter.worklist.push(op)
    changed = False
    while (op := rewriter.worklist.pop()) is not None:
        changed |= _visit(op, by_name.get(op.name, ()), rewriter)
    if changed:
        module.ops_changed()
    return changed


def _by_name(patterns: Iterable[Pattern]) -> dict[str, list[Pattern]]:
    by_name: dict[str, list[Pattern]] = {}
    for candidate in sorted(patterns, key=lambda p: -p.benefit):
        by_name.setdefault(candidate.op_name, []).append(candidate)
    return by_name


def _first_ops(
    module: IndexedModule, names: Mapping[str, object], *, top_down: bool
) -> list[ir.Operation]:
    """Return the ops with those names or without uses so that the last is to be visited first."""
    order = ir.WalkOrder.PRE_ORDER if top_down else ir.WalkOrder.POST_ORDER
    ops = [op for op in module.walk(order) if op.name in names or not _is_used(op)]
    return ops[::-1] if top_down else ops


def _visit(op: ir.Operation, patterns: Sequence[Pattern], rewriter: Rewriter) -> bool:
    if _is_dead(op):
        rewriter.erase(op)
        return True
    return any(candidate.rewrite(op, rewriter) for candidate in patterns)


def _is_dead(op: ir.Operation) -> bool:
    return not _is_used(op) and erasable_when_unused(op)


def _is_used(op: ir.Operation) -> bool:
    for result in op.results:
        for _ in result.uses:
            return True
    return False
