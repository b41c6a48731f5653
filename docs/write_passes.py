"""Writes docs/passes.md from the passes' docstrings: `python docs/write_passes.py`."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from sdy.passes.options import option_flag, value_text
from sdy.passes.registry import get_pass, pass_names

if TYPE_CHECKING:
    from sdy.passes.base import Pass

PAGE = Path(__file__).with_name("passes.md")

INTRODUCTION = """\
# Passes

Each is a flag of `sdy-opt`, with its options as `--pass='option=value other=value'`, and a name in
textual pipelines. Names, options and nesting are Shardy's. This page is written from the
docstrings by `docs/write_passes.py`.
"""


def describe(cls: type[Pass]) -> str:
    """Return the section of one pass."""
    lines = [f"## `{cls.name}`", "", inspect.cleandoc(cls.__doc__ or "")]
    if cls.anchor != "builtin.module":
        lines += ["", f"Runs on `{cls.anchor}`."]
    options = fields(cls)
    if options:
        lines += ["", "| option | default | |", "| --- | --- | --- |"]
    for field in options:
        default = value_text(field.default) or "''"
        lines.append(f"| `{option_flag(field)}` | `{default}` | {field.metadata['help']} |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page."""
    sections = [describe(get_pass(name)) for name in pass_names()]
    return "\n\n".join([INTRODUCTION.rstrip(), *sections]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
