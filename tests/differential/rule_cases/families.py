"""Functions of one op, or few, for every family of sharding rules: seeded, small, valid.

A case is the text of a function called `@case`; `text.module_of` puts many into one module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.rule_cases.arithmetic import (
    convolutions,
    dots,
    reductions,
    select_and_scatters,
    windows,
)
from tests.differential.rule_cases.indexed import gathers, scatters
from tests.differential.rule_cases.placement import (
    broadcasts,
    concatenations,
    dynamic_slices,
    layouts,
    reshapes,
    slices,
)
from tests.differential.rule_cases.pointwise import custom_calls, elementwise, without_rule
from tests.differential.rule_cases.whole import collectives, decompositions, ffts, others, sorts

if TYPE_CHECKING:
    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["all_cases"]

FAMILIES = (
    elementwise,
    custom_calls,
    reshapes,
    broadcasts,
    layouts,
    dots,
    reductions,
    windows,
    select_and_scatters,
    slices,
    dynamic_slices,
    concatenations,
    gathers,
    scatters,
    convolutions,
    decompositions,
    ffts,
    sorts,
    others,
    collectives,
    without_rule,
)


def all_cases(draw: Draw, scale: int) -> Cases:
    """Yield about 80 * `scale` cases."""
    for family in FAMILIES:
        yield from family(draw, scale)
