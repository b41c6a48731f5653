"""Places for ops of functions that have none of their own: JAX's, which share them among calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.op_names import CALL

if TYPE_CHECKING:
    from sdy.explain.locations import Frame
    from sdy.explain.program import Op, Program

__all__ = ["CallPlaces"]


class CallPlaces:
    """Finds the line from which a function is called."""

    def __init__(self, program: Program) -> None:
        self._calls: dict[str, list[Op]] = {}
        self._known: dict[str, tuple[Frame, ...]] = {}
        for op in program.ops:
            if op.name == CALL:
                self._calls.setdefault(op.target, []).append(op)

    def frames(self, function: str) -> tuple[Frame, ...]:
        """Return the frames of a function's first call; empty where calls are on several lines."""
        known = self._known.get(function)
        if known is None:
            self._known[function] = ()  # For functions that call each other.
            calls = self._calls.get(function, [])
            found = [call.place.frames or self.frames(call.function) for call in calls]
            is_one = bool(found) and all(found) and len({frames[0] for frames in found}) == 1
            known = self._known[function] = found[0] if is_one else ()
        return known
