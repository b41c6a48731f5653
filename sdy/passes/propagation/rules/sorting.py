"""Sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integer
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.sort", reads=("dimension",))
def _sort(op: ir.Operation) -> OpShardingRule:
    """Map dimensions in place; the sorted one needs replication.

    Shardings spread along it only where another dimension can take them over.
    """
    builder = RuleBuilder.of(op)
    sizes = builder.operands[0]
    sorted_dim = integer(op, "dimension") if "dimension" in op.attributes else None
    no_other = all(size == 1 for dim, size in enumerate(sizes) if dim != sorted_dim)
    for dim, size in enumerate(sizes):
        if dim == sorted_dim:
            builder.shared_factor(dim, size, NEED_REPLICATION, blocked=no_other)
        else:
            builder.shared_factor(dim, size)
    return builder.build()
