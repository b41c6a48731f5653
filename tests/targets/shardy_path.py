"""Programs compiled by XLA's own Shardy, to compare with.

Runs in a process of its own: `python -m tests.targets.shardy_path TARGET NAME...` writes, for
each program of the corpus, one line of JSON: its collectives, as kind, shape and groups.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jaxlib import xla_client

from sdy.compile.build import xla_options
from sdy.compile.collectives import read_collectives
from sdy.compile.targets import backend_for
from sdy.ir.load import load
from tests.corpus.jax_programs import PROGRAMS

__all__ = ["collectives"]


def collectives(name: str, target: str) -> list[list[Any]]:
    """Return the collectives of a program that Shardy propagates and partitions."""
    backend = backend_for(target)
    options = xla_options(backend.devices)
    options.executable_build_options.use_shardy_partitioner = True
    compiled = backend.client.compile(
        load(PROGRAMS[name]()),
        executable_devices=xla_client.DeviceList(backend.devices),
        compile_options=options,
    )
    found = read_collectives("\n".join(m.to_string() for m in compiled.hlo_modules()))
    return [[each.kind, each.shape, each.groups] for each in found]


def main() -> None:
    """Write the collectives of the programs that are named."""
    target, *names = sys.argv[1:]
    for name in names:
        print(json.dumps(collectives(name, target)), flush=True)


if __name__ == "__main__":
    main()
