"""Merges and renumbers sharding groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import GROUP
from sdy.ir.types import shape
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ShardingGroupImport"]

_GROUP_ID = "group_id"


@dataclass(frozen=True, slots=True)
class ShardingGroupImport(Pass):
    """Merges sharding groups that share a value, and numbers the groups from 0.

    A value that is in two groups makes them one: all their members are sharded alike. A value
    is a member once only. All values of a group must have one shape and be in one manual
    computation, or in none.
    """

    name: ClassVar[str] = "sdy-sharding-group-import"

    def run(self, module: IndexedModule) -> None:
        """Renumber the groups in place; an error where members of one do not fit together."""
        groups = module.read_ops(GROUP)
        if not groups:
            return
        ids = [ir.IntegerAttr(op.attributes[_GROUP_ID]).value for op in groups]
        _check_members(groups, ids)
        duplicates = _renumber(groups, _new_ids(groups, ids))
        module.attributes_changed(GROUP, range(len(groups)))
        module.erase_ops(GROUP, duplicates)


def _check_members(groups: Sequence[ir.Operation], ids: Sequence[int]) -> None:
    first: dict[int, tuple[ir.Operation | None, tuple[int, ...]]] = {}
    for op, group in zip(groups, ids, strict=True):
        found = _manual_computation_around(op), shape(op.operands[0].type)
        computation, dimensions = first.setdefault(group, found)
        if not _is_same(computation, found[0]):
            raise op_error(
                op,
                "ShardingGroupOps values cannot cross ManualComputationOp boundaries "
                f"for groupId: {group}",
            )
        if dimensions != found[1]:
            raise op_error(
                op, f"ShardingGroupOps values must have the same shape for groupId: {group}"
            )


def _manual_computation_around(op: ir.Operation) -> ir.Operation | None:
    parent = op.parent
    while parent is not None and parent.operation.name != MANUAL_COMPUTATION:
        parent = parent.operation.parent
    return None if parent is None else parent.operation


def _is_same(first: ir.Operation | None, second: ir.Operation | None) -> bool:
    # An op cannot be compared with None.
    return first is second if first is None or second is None else first == second


def _new_ids(groups: Sequence[ir.Operation], ids: Iterable[int]) -> dict[int, int]:
    """Return for each id of a group the one that it gets."""
    by_value: dict[ir.Value, list[int]] = {}
    for op, group in zip(groups, ids, strict=True):
        by_value.setdefault(op.operands[0], []).append(group)
    leader: dict[int, int] = {}

    def find(group: int) -> int:
        while leader.setdefault(group, group) != group:
            group = leader[group]
        return group

    for first, *others in by_value.values():
        find(first)
        for other in others:
            leader[find(other)] = find(first)
    # Groups are numbered as their leaders are first met, value by value.
    numbers = {group: number for number, group in enumerate(g for g in leader if find(g) == g)}
    return {group: numbers[find(group)] for group in list(leader)}


def _renumber(groups: Iterable[ir.Operation], new_ids: Mapping[int, int]) -> list[int]:
    """Set the new ids; return which groups, left alone, make a value a member once more."""
    members: set[ir.Value] = set()
    duplicates: list[int] = []
    for place, op in enumerate(groups):
        value = op.operands[0]
        if value in members:
            duplicates.append(place)
            continue
        members.add(value)
        old = ir.IntegerAttr(op.attributes[_GROUP_ID])
        if new_ids[old.value] != old.value:
            op.attributes[_GROUP_ID] = ir.IntegerAttr.get(old.type, new_ids[old.value])
    return duplicates
