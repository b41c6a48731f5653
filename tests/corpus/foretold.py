"""Tables for docs/costs.md: what is foretold of the corpus against what XLA makes of it.

`python -m tests.corpus.foretold TARGET` prints the table of collectives for a target, and for
`cpu:8` that of memory.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import sdy
from tests.corpus.jax_programs import PROGRAMS
from tests.corpus.partitioned import Partitioned, partition
from tests.corpus.resharding_programs import RESHARDING

__all__ = ["TABULATED", "collectives_table", "compiled", "memory_table"]

_ALL = {**PROGRAMS, **RESHARDING}
# Lowered for CPU, with calls into LAPACK, which are nowhere else.
_FOR_CPU = {"linear_algebra"}

TABULATED = {
    "cpu:8": tuple(_ALL),
    "tpu:v5e:2x4": tuple(name for name in _ALL if name not in _FOR_CPU),
}
KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute")


def compiled(target: str) -> tuple[list[sdy.Explanation], list[Partitioned]]:
    """Return the explanations of the programs of a target's table, and what XLA made of them."""
    explained = [sdy.explain(_ALL[name]()) for name in TABULATED[target]]
    return explained, partition([str(each.module) for each in explained], target)


def collectives_table(
    target: str, explained: Sequence[sdy.Explanation], found: Sequence[Partitioned]
) -> str:
    """Return the bytes of collectives by kind; `foretold / compiled` where the two differ."""
    return "\n".join(_collectives(TABULATED[target], explained, found))


def _collectives(
    names: Sequence[str], explained: Sequence[sdy.Explanation], found: Sequence[Partitioned]
) -> Iterator[str]:
    yield f"| program | {' | '.join(KINDS)} |"
    yield f"| --- |{' --- |' * len(KINDS)}"
    totals: list[Counter[str]] = [Counter(), Counter()]
    for name, explanation, xla in zip(names, explained, found, strict=True):
        ours = _foretold(explanation)
        totals[0] += ours
        totals[1] += xla.bytes
        yield _row(name, ours, xla.bytes)
    yield _row("all", *totals)


def _foretold(explanation: sdy.Explanation) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for point in explanation.communication:
        for collective in point.collectives:
            sizes[collective.kind] += point.copies * collective.size
    return sizes


def _row(name: str, ours: Counter[str], xlas: Counter[str]) -> str:
    cells = []
    for kind in KINDS:
        mine, other = ours[kind], xlas[kind]
        cells.append(f"{mine or ''}" if mine == other else f"{mine} / {other}")
    return f"| `{name}` | {' | '.join(cells)} |"


def memory_table(explained: Sequence[sdy.Explanation], found: Sequence[Partitioned]) -> str:
    """Return the peak that is estimated, what XLA's buffers take, and the ratio."""
    lines = ["| program | estimated | XLA | ratio |", "| --- | --- | --- | --- |"]
    for name, explanation, xla in zip(TABULATED["cpu:8"], explained, found, strict=True):
        peak = explanation.memory.peak
        lines.append(f"| `{name}` | {peak} | {xla.memory} | {peak / xla.memory:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables of a target."""
    target = sys.argv[1]
    explained, found = compiled(target)
    print(collectives_table(target, explained, found))
    if target == "cpu:8":
        print(memory_table(explained, found))


if __name__ == "__main__":
    main()
