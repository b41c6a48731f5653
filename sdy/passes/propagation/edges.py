"""Propagation edges: for one op, at which step which axis went from which tensor to which.

The text is that of `#sdy.propagation_edges`. The idea is Shardy's
`debug-propagation-edge-sharding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.passes.propagation.axis_flows import AxisFlow

__all__ = ["edges_text"]


def edges_text(flows: Iterable[tuple[int, AxisFlow]], operand_count: int) -> str:
    """Return the attribute that says what happened at an op.

    Args:
      flows: number of a step and what it moved, in the order of steps; an axis that takes the
        same way twice is told of once.
      operand_count: how many of the positions of flows are operands.

    """
    by_step: dict[int, dict[tuple[AxisRef, int], list[int]]] = {}
    seen: set[tuple[AxisRef, int, int]] = set()
    for step, flow in flows:
        way = (flow.axis, flow.source, flow.target)
        if way not in seen:
            seen.add(way)
            by_step.setdefault(step, {}).setdefault((flow.axis, flow.source), []).append(
                flow.target
            )

    def node(position: int) -> str:
        if position < operand_count:
            return f"operand-{position}"
        return f"result-{position - operand_count}"

    def entry(axis: AxisRef, source: int, targets: list[int]) -> str:
        return f"{{{axis} = {node(source)} -> [{', '.join(map(node, sorted(targets)))}]}}"

    steps = (
        f"{{step-{step} = [{', '.join(entry(*key, way[key]) for key in sorted(way))}]}}"
        for step, way in by_step.items()
    )
    return f"#sdy.propagation_edges<[{', '.join(steps)}]>"
