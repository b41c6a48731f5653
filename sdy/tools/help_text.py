"""What sdy-opt says of itself: its flags, its passes and their options."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

from sdy.passes.options import option_flag, value_text
from sdy.passes.registry import get_pass, pass_names
from sdy.tools.flags import FLAGS

if TYPE_CHECKING:
    from sdy.passes.base import Pass
    from sdy.tools.flags import Flag

__all__ = ["help_text", "pass_list", "version_text"]

_INTRODUCTION = """\
usage: sdy-opt [FILE] [-o FILE] [FLAGS] [PASSES]

Reads StableHLO with shardings, as MLIR text, bytecode or a portable artifact, from FILE or, by
default, standard input; runs passes on it; prints the module. The passes run in the order given:

  sdy-opt in.mlir --sdy-lift-inlined-meshes --sdy-basic-propagate='keep-sharding-rules=true' --cse
  sdy-opt in.mlir --pass-pipeline='builtin.module(sdy-import-pipeline, func.func(cse))'

MLIR's and StableHLO's own passes, such as cse, symbol-dce and inline, are there, too. One dash is
as good as two.
"""


def help_text() -> str:
    """Return all of `--help`."""
    flags = "\n".join(_describe_flag(flag) for flag in FLAGS)
    passes = "\n\n".join(_describe_pass(get_pass(name)) for name in pass_names())
    return f"{_INTRODUCTION}\nFlags:\n\n{flags}\n\nPasses:\n\n{passes}\n"


def _describe_flag(flag: Flag) -> str:
    value = f" {flag.metavar}" if len(flag.name) == 1 else f"={flag.metavar}"
    if flag.kind in ("optional", "switch"):
        value = f"[{value}]"
    value = value if flag.metavar else ""
    return f"  {flag.spelling}{value}\n{_indented(flag.help, 8)}"


def _describe_pass(cls: type[Pass]) -> str:
    lines = [f"  --{cls.name}", _indented(inspect.cleandoc(cls.__doc__ or ""), 6)]
    for field in fields(cls):
        default = value_text(field.default) or "''"
        lines.append(f"      {option_flag(field)} (default: {default})")
        lines.append(_indented(field.metadata.get("help", ""), 10))
    return "\n".join(lines)


def _indented(text: str, columns: int) -> str:
    return textwrap.indent(text, " " * columns)


def pass_list() -> str:
    """Return the names of the passes, one a line."""
    return "".join(f"{name}\n" for name in pass_names())


def version_text() -> str:
    """Return the versions of sdy and of the jaxlib whose MLIR it uses."""
    from importlib.metadata import PackageNotFoundError, version

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "(not installed)"

    return f"sdy {of('sdy')}, jaxlib {of('jaxlib')}\n"
