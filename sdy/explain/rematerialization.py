"""Warnings of full rematerializations, before XLA gives them and with the lines of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sdy.ir.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.explain.communication import Communication
    from sdy.explain.locations import Frame

__all__ = ["rematerialization_warnings"]


def rematerialization_warnings(found: Iterable[Communication]) -> tuple[Diagnostic, ...]:
    """Return a warning for each reshard for which XLA is to gather the whole tensor.

    XLA logs an "involuntary full rematerialization" for the same reshards when it compiles.
    Notes name the lines that call the line of the op.
    """
    return tuple(_warning(point) for point in found if point.rematerializes)


def _warning(point: Communication) -> Diagnostic:
    tensor = f"{point.element_type}[{','.join(map(str, point.shape))}]"
    message = (
        f"XLA gathers all of {tensor} to bring it from {point.from_} to {point.to}: "
        "an involuntary full rematerialization"
    )
    frames = point.place.frames
    if not frames:
        return Diagnostic("warning", message)
    notes = tuple(_located("note", "called here", frame) for frame in frames[1:])
    return _located("warning", message, frames[0], notes)


def _located(
    severity: Literal["warning", "note"],
    message: str,
    frame: Frame,
    notes: tuple[Diagnostic, ...] = (),
) -> Diagnostic:
    return Diagnostic(severity, message, frame.file, frame.line, frame.column, notes)
