"""The child process of `test_attributes`: what MLIR, with jaxlib's sdy dialect, says of attributes.

Reads a JSON list of `[attribute, module]` from standard input. Writes a JSON list with, for each,
the attribute as MLIR prints it if both attribute and module are accepted, else null.
"""

import json
import sys

from jaxlib.mlir import ir

from sdy.ir.context import make_context


def printed(attribute: str, module: str) -> str | None:
    if not attribute.strip():
        return None  # jaxlib 0.10.2 dies of a signal on empty text
    try:
        parsed = ir.Attribute.parse(attribute.lstrip())
        ir.Module.parse(module)
    except (ir.MLIRError, ValueError):
        return None
    return str(parsed)


def main() -> None:
    cases = json.load(sys.stdin)
    with make_context():
        json.dump([printed(attribute, module) for attribute, module in cases], sys.stdout)


if __name__ == "__main__":
    main()
