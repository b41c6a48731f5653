"""Places in the source: what the locations of JAX and of MLIR files say, as files and lines.

JAX gives an op a location such as `"jit(f)/dot_general"(callsite("layer"("model.py":12:4) at
callsite("f"("model.py":20:8) at ...)))`: the name of the op, then the frames that led to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.names import unquote
from sdy.explain.op_marks import unmarked
from sdy.ir.diagnostics import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NOWHERE", "Frame", "Place", "PlaceReader", "PlaceTexts"]

# What MLIR calls text that was in no file.
_NO_FILE = "-"

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the source.

    Attributes:
      file: its path, as the program has it.
      line: from 1.
      column: from 1; 0 where it is not known.
      function: the function that the line is in; '' where it is not known.

    """

    file: str
    line: int
    column: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.function}" if self.function else "")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the source an op or a value comes from.

    Attributes:
      label: the name that it has there: `jit(f)/dot_general` for an op of JAX, `params['w']` for
        an argument; '' where it has none.
      frames: the line that makes it, then the lines that call that line's function, and so on.

    """

    label: str = ""
    frames: tuple[Frame, ...] = ()

    def __str__(self) -> str:
        return str(self.frames[0]) if self.frames else self.label


NOWHERE = Place()

_INNER = ".<locals>."


class PlaceTexts:
    """Short texts for places: files by the end of their paths that no other file has."""

    def __init__(self, places: Iterable[Place]) -> None:
        files = {frame.file for place in places for frame in place.frames}
        self._short = {file: _shortest_suffix(file, files) for file in files}

    def text(self, place: Place) -> str:
        """Return `model.py:12 in loss` for the innermost frame; '' for a place without frames."""
        return self.frame(place.frames[0]) if place.frames else ""

    def at(self, place: Place) -> str:
        """Return the text with a ` at ` before it; '' for a place without frames."""
        return f" at {self.text(place)}" if place.frames else ""

    def frame(self, frame: Frame) -> str:
        """Return the text for one frame."""
        function = frame.function.rpartition(_INNER)[2]
        file = self._short.get(frame.file, frame.file)
        return f"{file}:{frame.line}" + (f" in {function}" if function else "")


def _shortest_suffix(file: str, files: Iterable[str]) -> str:
    parts = file.split("/")
    for count in range(1, len(parts)):
        suffix = "/".join(parts[-count:])
        if not any(other != file and other.endswith(f"/{suffix}") for other in files):
            return suffix
    return file


class PlaceReader:
    """Reads locations, each distinct one once."""

    def __init__(self) -> None:
        self._known: dict[ir.Attribute, Place] = {}

    def read(self, location: ir.Location) -> Place:
        """Return the place that a location names, with or without a mark."""
        location = unmarked(location)
        key = location.attr
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = _read(location)
        return place


def _read(location: ir.Location) -> Place:
    label = ""
    if isinstance(location, ir.NameLoc):
        label = _quoted(location)
        location = location.child_loc
    return Place(label, tuple(_frames(location, "")))


def _frames(location: ir.Location, function: str) -> Iterator[Frame]:
    """Yield the frames of a location, the innermost first; `function` is that of the first."""
    if isinstance(location, ir.FileLineColLoc):
        file = _quoted(location)
        name = TEXT if file == _NO_FILE else file
        yield Frame(name, location.start_line, location.start_col, function)
    elif isinstance(location, ir.NameLoc):
        yield from _frames(location.child_loc, _quoted(location))
    elif isinstance(location, ir.CallSiteLoc):
        yield from _frames(location.callee, function)
        yield from _frames(location.caller, "")
    elif isinstance(location, ir.FusedLoc):
        # What was fused are places of their own: the first that says something stands for all.
        for part in location.locations:
            frames = tuple(_frames(part, function))
            if frames:
                yield from frames
                return


def _quoted(location: ir.Location) -> str:
    """Return the first name in the text of a location.

    The name itself kills the process where it is not UTF-8; the text of the location does not.
    Bytes that are not UTF-8 stay escaped.
    """
    quoted = _QUOTED.search(str(location))
    if quoted is None:
        return ""
    name = unquote(quoted[0])
    return quoted[0][1:-1] if any("\ud800" <= char <= "\udfff" for char in name) else name
