"""An explanation as JSON, for programs and for the page: tables that refer to each other by index.

Axes are spelled as in shardings, without the quotes around names: `data`, `data:(1)2`. Names,
labels and files are what the program says, whatever characters they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from sdy.dialect.mesh import Mesh
from sdy.explain.locations import PlaceTexts
from sdy.explain.why_text import WhyTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.annotations import Annotation
    from sdy.explain.inquiry import Inquiry
    from sdy.explain.locations import Place
    from sdy.explain.program import Function, Op, Program, Value
    from sdy.explain.traced import Traced
    from sdy.explain.why import Arrival, Move
    from sdy.explain.why_not import Conflict

__all__ = ["VERSION", "JsonForm", "axis_text"]

VERSION = 1

T = TypeVar("T", bound="Hashable")

_Station: TypeAlias = "tuple[int, int, AxisRef, int | None]"
"""A tensor, a dimension, an axis, and the step that brought it there; None at the start."""


def axis_text(axis: AxisRef) -> str:
    """Return an axis as it stands in JSON."""
    return axis.name if axis.sub_axis is None else f"{axis.name}:{axis.sub_axis}"


class _Table(Generic[T]):
    """Distinct things in the order in which they are met, each with its form once."""

    def __init__(self, form: Callable[[T], dict[str, Any]]) -> None:
        self._form = form
        self._numbers: dict[T, int] = {}
        # The same object is met again and again, and to hash what is in it takes longer.
        self._by_identity: dict[int, tuple[T, int]] = {}
        self.rows: list[dict[str, Any]] = []

    def index(self, thing: T) -> int:
        """Return the index of the row of a thing."""
        known = self._by_identity.get(id(thing))
        if known is None:
            known = self._by_identity[id(thing)] = thing, self._index(thing)
        return known[1]

    def _index(self, thing: T) -> int:
        number = self._numbers.get(thing)
        if number is None:
            row = self._form(thing)  # May add rows for things that this one comes after.
            number = self._numbers[thing] = len(self.rows)
            self.rows.append(row)
        return number

    def optional(self, thing: T | None) -> int | None:
        """Return the index of the row of a thing; None for None."""
        return None if thing is None else self.index(thing)


class JsonForm:
    """Makes the tables. What other parts of the room add uses `place` and `sharding` too."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._inquiry = traced.inquiry
        self._places: _Table[Place] = _Table(_place)
        self._shardings: _Table[TensorSharding] = _Table(_sharding)
        self._moves: _Table[Move] = _Table(self._move)
        self._annotations: _Table[Annotation] = _Table(self._annotation)
        self._texts = WhyTexts(PlaceTexts(op.place for op in traced.program.ops))
        self._arrivals: list[dict[str, Any]] = []
        self._arrival_numbers: dict[_Station, int] = {}

    def place(self, place: Place) -> int:
        """Return the index of a place in `places`."""
        return self._places.index(place)

    def sharding(self, sharding: TensorSharding | None) -> int | None:
        """Return the index of a sharding in `shardings`; None for no sharding."""
        return self._shardings.optional(sharding)

    def document(self, further: dict[str, Any]) -> dict[str, Any]:
        """Return the whole document.

        Args:
          further: what other parts of the room say, by their keys; made with this form.

        """
        program = self._traced.program
        for annotation in () if self._inquiry is None else self._inquiry.chains.annotations:
            self._annotations.index(annotation)
        tables = {
            "functions": [_function(program, function) for function in program.functions],
            "values": [self._value(value) for value in program.values],
            "ops": [self._op(op) for op in program.ops],
            "why": dict(self._why(program)),
            "why_not": dict(self._why_not(program)),
        }
        return {
            "version": VERSION,
            "meshes": [_mesh(mesh) for mesh in program.meshes],
            **tables,
            **further,
            "arrivals": self._arrivals,
            "annotations": self._annotations.rows,
            "moves": self._moves.rows,
            "shardings": self._shardings.rows,
            "places": self._places.rows,
        }

    def _value(self, value: Value) -> dict[str, Any]:
        return {
            "name": value.name,
            "function": value.function,
            "spelling": value.spelling,
            "label": value.label,
            "type": value.type,
            "shape": value.shape,
            "element_type": value.element_type,
            "sharding": self.sharding(value.sharding),
            "local_shape": value.local_shape,
            "manual_axes": value.manual_axes,
            "op": value.op,
            "place": self.place(value.place),
        }

    def _op(self, op: Op) -> dict[str, Any]:
        return {
            "name": op.name,
            "target": op.target,
            "function": op.function,
            "operands": op.operands,
            "results": op.results,
            "arguments": op.arguments,
            "parent": op.parent,
            "place": self.place(op.place),
        }

    def _tensors(self, program: Program) -> Iterator[tuple[Inquiry, Value, int]]:
        """Yield the values that are tensors of what was recorded, none where nothing was."""
        inquiry = self._inquiry
        if inquiry is None:
            return
        tensors = self._traced.correspondence.tensor_by_value
        for value in program.values:
            tensor = tensors.get(value.number)
            if tensor is not None:
                yield inquiry, value, tensor

    # Why.

    def _why(self, program: Program) -> Iterator[tuple[str, list[tuple[int, str, int]]]]:
        """Yield for each value that is split the dimensions, axes and arrivals."""
        for inquiry, value, tensor in self._tensors(program):
            axes = [
                (dim, axis_text(axis), self._arrival(inquiry, tensor, dim, axis))
                for dim in range(len(value.shape))
                for axis in inquiry.axes_of(tensor, dim)
            ]
            if axes:
                yield str(value.number), axes

    def _arrival(self, inquiry: Inquiry, tensor: int, dim: int, axis: AxisRef) -> int:
        """Return the index of an arrival, whose predecessors come before it in the table."""
        way: list[tuple[Arrival, _Station]] = []
        previous: int | None = None
        station, before = (tensor, dim, axis), None
        while True:
            arrival, event = inquiry.chains.last(*station, before)
            key = (*station, None if event is None else event.step)
            if key in self._arrival_numbers:
                previous = self._arrival_numbers[key]
                break
            way.append((arrival, key))
            if event is None:
                break
            station, before = (event.source, event.source_dim, axis), event.end
        for arrival, key in reversed(way):
            self._arrival_numbers[key] = len(self._arrivals)
            self._arrivals.append(self._arrival_row(arrival, previous))
            previous = len(self._arrivals) - 1
        return len(self._arrivals) - 1 if previous is None else previous

    def _arrival_row(self, arrival: Arrival, previous: int | None) -> dict[str, Any]:
        return {
            "value": arrival.value,
            "name": arrival.name,
            "dim": arrival.dim,
            "axis": axis_text(arrival.axis),
            "move": self._moves.optional(arrival.move),
            "annotation": self._annotations.optional(arrival.annotation),
            "previous": previous,
        }

    def _move(self, move: Move) -> dict[str, Any]:
        return {
            "op": move.op,
            "op_name": move.op_name,
            "place": self.place(move.place),
            "factor": move.factor,
            "direction": move.direction,
            "user_priority": move.user_priority,
            "op_priority": move.op_priority,
            "strategy": move.strategy,
        }

    def _annotation(self, annotation: Annotation) -> dict[str, Any]:
        return {
            "kind": annotation.kind,
            "value": annotation.value,
            "sharding": self.sharding(annotation.sharding),
            "place": self.place(annotation.place),
            "text": annotation.text,
        }

    # Why not.

    def _why_not(self, program: Program) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield for each value what came near a dimension of it that is not split.

        A dimension that nothing came near, and that is not closed, is left out.
        """
        for inquiry, value, tensor in self._tensors(program):
            rows = [
                row
                for dim in range(len(value.shape))
                if not inquiry.axes_of(tensor, dim)
                for row in self._why_not_row(inquiry, tensor, dim)
            ]
            if rows:
                yield str(value.number), rows

    def _why_not_row(self, inquiry: Inquiry, tensor: int, dim: int) -> Iterator[dict[str, Any]]:
        closed_by = inquiry.closed_by(tensor, dim)
        conflicts = inquiry.conflicts.around(tensor, dim)
        if closed_by is not None or conflicts:
            yield {
                "dim": dim,
                "closed_by": self._annotations.optional(closed_by),
                "conflicts": [self._conflict(inquiry, conflict) for conflict in conflicts],
            }

    def _conflict(self, inquiry: Inquiry, conflict: Conflict) -> dict[str, Any]:
        return {
            "op": conflict.op,
            "op_name": conflict.op_name,
            "place": self.place(conflict.place),
            "factor": conflict.factor,
            "axes": [axis_text(axis) for axis in conflict.axes],
            "source": conflict.source,
            "source_name": conflict.source_name,
            "reason": conflict.reason,
            "winner": self._winner(inquiry, conflict.winner),
            "annotation": self._annotations.optional(conflict.annotation),
            "text": self._texts.conflict(conflict),
        }

    def _winner(self, inquiry: Inquiry, winner: Arrival | None) -> int | None:
        if winner is None or winner.value is None:
            return None
        tensor = self._traced.correspondence.tensor_by_value[winner.value]
        return self._arrival(inquiry, tensor, winner.dim, winner.axis)


def _mesh(mesh: Mesh) -> dict[str, Any]:
    return {
        "name": mesh.name,
        "axes": [{"name": axis.name, "size": axis.size} for axis in mesh.axes],
        "devices": mesh.size,
        "device_ids": mesh.device_ids,
    }


def _place(place: Place) -> dict[str, Any]:
    frames = [
        {"file": f.file, "line": f.line, "column": f.column, "function": f.function}
        for f in place.frames
    ]
    return {"label": place.label, "frames": frames}


def _sharding(sharding: TensorSharding) -> dict[str, Any]:
    mesh = sharding.mesh
    return {
        "mesh": mesh.name if isinstance(mesh, Mesh) else mesh,
        "dimensions": [
            {"axes": _axis_texts(dimension.axes), "is_closed": dimension.is_closed}
            for dimension in sharding.dimensions
        ],
        "replicated": _axis_texts(sharding.replicated),
        "unreduced": _axis_texts(sharding.unreduced),
        "text": str(sharding),
    }


def _axis_texts(axes: Iterable[AxisRef]) -> list[str]:
    return [axis_text(axis) for axis in axes]


def _function(program: Program, function: Function) -> dict[str, Any]:
    return {
        "name": function.name,
        "arguments": function.arguments,
        "results": function.results,
        "ops": [number for number in function.ops if program.ops[number].parent is None],
    }
