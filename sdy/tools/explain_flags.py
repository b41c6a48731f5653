"""The command line of sdy-explain."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, cast

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Format", "Options", "Question", "parse_arguments"]

Format = Literal["text", "json", "html"]

_QUESTION = re.compile(r"(?P<value>.+?)(?::(?P<dim>\d{1,9})(?::(?P<axis>.+))?)?", re.DOTALL)

_EPILOG = """\
examples:
  sdy-explain model.mlir                       what is annotated, and what stays whole, and why
  sdy-explain model.mlir --why=%42             how each axis came to %42, and why no other did
  sdy-explain model.mlir --why=%42:1:model     dimension 1 of it, along one axis
  sdy-explain model.mlir --placement=%arg0     which device holds which part of it
  sdy-explain model.mlir --topology=v5e:2x4    how long its communication takes there
  sdy-explain model.mlir --suggest             which annotations would save some of it
  sdy-explain --diff before.mlir after.mlir    what is sharded in another way
  sdy-explain model.mlir --format=html -o model.html

Values are named as in the propagated program, which `sdy-opt --sdy-propagation-pipeline` prints:
%42, %arg0, '@main result 0', @f:%42 in a function f; or as in the source: "params['w']".
"""


@dataclass(frozen=True, slots=True)
class Question:
    """One `--why`.

    Attributes:
      value: what the value is called.
      dim: the dimension; None for all.
      axis: the axis; None for all.

    """

    value: str
    dim: int | None = None
    axis: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says.

    Attributes:
      inputs: the files; one, or the two of `--diff`.
      output: where to write to; `-` is standard output.
      format: of the output.
      topology: the devices to tell costs for; None for none.
      top: how many rows of each kind are shown.
      why: the values to explain.
      placement: the values to draw.
      suggest: whether annotations are tried that would save communication.
      is_diff: whether the two inputs are compared.

    """

    inputs: tuple[str, ...]
    output: str
    format: Format
    topology: str | None
    top: int
    why: tuple[Question, ...]
    placement: tuple[str, ...]
    suggest: bool
    is_diff: bool


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise the error, which else would be printed with the usage and end the process."""
        raise Error(message)


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Return the options.

    Raises:
      Error: where an argument is wrong.
      SystemExit: where the help or the version was asked for, which is printed.

    """
    parsed = _parser().parse_args(list(arguments))
    if parsed.diff and parsed.file is not None:
        raise Error("--diff takes both of its files: no other one can be given")
    asks = parsed.why or parsed.placement or parsed.suggest
    if parsed.diff and (asks or parsed.format != "text"):
        raise Error("--diff answers one question: no other one, and no format, goes with it")
    if parsed.format != "text" and (parsed.why or parsed.placement):
        raise Error("--why and --placement print a text: leave --format out")
    if parsed.topology and (parsed.why or parsed.placement) and not parsed.suggest:
        raise Error("--why and --placement tell no costs: leave --topology out")
    return Options(
        inputs=tuple(parsed.diff or [parsed.file or "-"]),
        output=parsed.output,
        format=cast("Format", parsed.format),
        topology=parsed.topology,
        top=parsed.top,
        why=tuple(map(_question, parsed.why)),
        placement=tuple(parsed.placement),
        suggest=parsed.suggest,
        is_diff=bool(parsed.diff),
    )


def _parser() -> argparse.ArgumentParser:
    from sdy.tools.help_text import version_text

    parser = _Parser(
        prog="sdy-explain",
        description="Says why a program is sharded as it is.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="MLIR text or bytecode; standard input by default")
    add("-o", dest="output", metavar="FILE", default="-", help="write to FILE")
    add("--format", choices=("text", "json", "html"), default="text", help="of the output")
    add("--topology", metavar="NAME", help="the devices to tell costs for, such as v5e:2x4")
    add("--top", type=_count, metavar="N", default=20, help="show N rows of each kind (20)")
    add("--why", action="append", metavar="VALUE[:DIM[:AXIS]]", default=[], help="explain a value")
    add("--placement", action="append", metavar="VALUE", default=[], help="draw a value")
    add("--suggest", action="store_true", help="try annotations that would save communication")
    add("--diff", nargs=2, metavar=("A", "B"), help="compare two programs")
    add("--version", action="version", version=version_text().strip())
    return parser


def _question(text: str) -> Question:
    match = _QUESTION.fullmatch(text)
    if match is None:
        raise Error("flag '--why': expected VALUE[:DIM[:AXIS]], got ''")
    dim = None if match["dim"] is None else int(match["dim"])
    return Question(match["value"], dim, match["axis"])


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a number, got '{text}'")
    return int(text)
