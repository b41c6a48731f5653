"""Closes every sharding, so that nothing may shard a tensor further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.sharding import TensorSharding
from sdy.ir.sharding_walk import transform_shardings
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["CloseShardings"]


@dataclass(frozen=True, slots=True)
class CloseShardings(Pass):
    """Closes every dimension of every sharding and drops explicitly replicated axes.

    What propagation has found is final after this pass. Axes that are explicitly replicated
    only kept propagation from using them.
    """

    name: ClassVar[str] = "sdy-close-shardings"

    def run(self, module: IndexedModule) -> None:
        """Close the shardings in place."""
        transform_shardings(module, TensorSharding.closed)
