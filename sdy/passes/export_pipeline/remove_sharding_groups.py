"""Removes sharding groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.op_names import GROUP
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RemoveShardingGroups"]


@dataclass(frozen=True, slots=True)
class RemoveShardingGroups(Pass):
    """Removes every `sdy.sharding_group`: after propagation its members are sharded alike."""

    name: ClassVar[str] = "sdy-remove-sharding-groups"

    def run(self, module: IndexedModule) -> None:
        """Remove the groups in place."""
        groups = module.ops(GROUP)
        module.replace_ops(dict.fromkeys(groups, ()))
        for group in groups:
            group.erase()
