"""What programs can be compiled for, and how each target is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.compile.cpu import cpu_backend
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sdy.compile.backend import Backend

__all__ = ["PLATFORMS", "Platform", "backend_for"]


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of device.

    Attributes:
      form: how a target of this kind is written.
      meaning: what such a target is.
      pattern: what may stand behind the colon.
      open: from the match of that to the devices and their compiler.

    """

    form: str
    meaning: str
    pattern: re.Pattern[str]
    open: Callable[[re.Match[str]], Backend]


PLATFORMS: Mapping[str, Platform] = {
    "cpu": Platform(
        form="cpu:N",
        meaning="N virtual devices on the CPU of this machine",
        pattern=re.compile(r"[1-9][0-9]{0,4}"),
        open=lambda match: cpu_backend(int(match[0])),
    ),
}


def backend_for(target: str) -> Backend:
    """Return the devices that `target` names, with their compiler.

    Raises:
      Error: if `target` is not understood; the message says which targets are.

    """
    name, _, rest = target.partition(":")
    platform = PLATFORMS.get(name)
    match = platform and platform.pattern.fullmatch(rest)
    if not platform or not match:
        known = "; ".join(f"'{p.form}' ({p.meaning})" for p in PLATFORMS.values())
        raise Error(f"unknown target '{target}': expected {known}")
    return platform.open(match)
