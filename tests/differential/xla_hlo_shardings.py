"""XLA's own HloSharding, in a child process: it aborts on some texts.

The child reads JSON lists from standard input, one a line, and answers each with a JSON list.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlib import _hlo, xla_client

__all__ = ["XlaSharding", "from_named", "from_text", "protocol_buffers", "texts_in_modules"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class XlaSharding:
    """What XLA makes of a sharding.

    Attributes:
      text: as XLA prints it.
      dims: of the tile assignment; empty if there is none.
      devices: of the tile assignment, row-major.
      local_shape: the shape of a shard of a tensor of `from_text`'s shape.

    """

    text: str
    dims: list[int]
    devices: list[int]
    local_shape: list[int]


def from_text(texts: list[tuple[str, tuple[int, ...]]]) -> list[XlaSharding]:
    """Parse texts, each for a tensor of that shape."""
    return _ask([["text", text, list(shape)] for text, shape in texts])


def from_named(texts: list[str]) -> list[XlaSharding]:
    """Parse texts that name a mesh and its axes, `{mesh['x'=2], [{'x'}]}`, and convert them."""
    return _ask([["named", text, []] for text in texts])


def protocol_buffers(texts: list[str]) -> list[bytes]:
    """Return the serialized OpSharding of each text."""
    return [bytes.fromhex(answer) for answer in _answers([["proto", text, []] for text in texts])]


def texts_in_modules(texts: list[str]) -> list[str]:
    """Return each text as XLA prints it in a module, which is where it prints metadata."""
    return list(_answers([["module", text, []] for text in texts]))


def _ask(requests: list[list[Any]]) -> list[XlaSharding]:
    return [XlaSharding(*answer) for answer in _answers(requests)]


def _answers(requests: list[list[Any]]) -> list[Any]:
    child = subprocess.run(
        [sys.executable, "-m", "tests.differential.xla_hlo_shardings"],
        input="\n".join(map(json.dumps, requests)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return list(map(json.loads, child.stdout.splitlines()))


def _answer(kind: str, text: str, shape: list[int]) -> Any:
    if kind == "module":
        return _text_in_module(text)
    sharding = xla_client.HloSharding.from_string(text)
    if kind == "proto":
        return sharding.to_proto().SerializeToString().hex()
    if kind == "named":
        sharding = sharding.v3_to_v2_sharding()
    # XLA prints some subgroups of one kind in a form that it does not keep when it reads it.
    sharding = xla_client.HloSharding.from_string(str(sharding))
    if not sharding.is_tiled():
        return [str(sharding), [], [], shape]
    dims = list(sharding.tile_assignment_dimensions())
    devices = list(sharding.tile_assignment_devices())
    local = [-(-size // tiles) for size, tiles in zip(shape, dims, strict=False)]
    if shape:
        whole = xla_client.Shape.array_shape(xla_client.PrimitiveType.F32, shape)
        local = list(sharding.tile(whole).dimensions())
    return [str(sharding), dims, devices, local]


def _text_in_module(text: str) -> str:
    parameter = f"ENTRY e {{ ROOT p = f32[8] parameter(0), sharding={text} }}"
    module = _hlo.hlo_module_from_text(f"HloModule m\n{parameter}").to_string()
    line = next(line for line in module.splitlines() if "sharding=" in line)
    return str(line.split("sharding=", 1)[1])


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(_answer(*json.loads(line))))
