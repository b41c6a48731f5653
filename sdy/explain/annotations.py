"""What a program itself says of its shardings, and which of that an axis comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sdy.explain.locations import NOWHERE
from sdy.explain.program import functions_of
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.values import function_name
from sdy.passes.propagation.origins import Origin, OriginKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.locations import Place
    from sdy.explain.naming import Naming
    from sdy.explain.program import Op, Value
    from sdy.explain.record import Record
    from sdy.explain.traced import Traced

__all__ = ["Annotation", "AnnotationKind", "Annotations"]

AnnotationKind = Literal["argument", "result", "constraint", "manual input", "manual output", "op"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A sharding that the program itself says.

    Attributes:
      kind: what carries it; `op` where an op that is no constraint has a sharding of its own.
      value: the number of the value that has it; None where that is not in the program any more.
      sharding: what it says; None for what is said of a manual computation.
      place: where in the source it is.
      text: who says it, for people: `argument %arg0 (x)`.
      origin: what Shardy's debug attributes call it, `input: 0`; '' where they say nothing of it.

    """

    kind: AnnotationKind
    value: int | None
    sharding: TensorSharding | None
    place: Place
    text: str
    origin: str = ""


class Annotations:
    """Finds the annotations in a record."""

    def __init__(self, traced: Traced, record: Record, naming: Naming) -> None:
        self._source = traced.source
        self._program = traced.program
        self._correspondence = traced.correspondence
        self._record = record
        self._naming = naming

    def of(self, tensor: int, axis: AxisRef | None = None) -> Annotation:
        """Return the annotation that a tensor has an axis from, or that says what it says.

        What an argument of a function says itself goes before what its users say, which Shardy's
        debug attributes have as the origin.
        """
        origin = self._origin(tensor, axis)
        argument = self._annotated_arguments.get(tensor)
        if argument is not None:
            return self._argument(tensor, *argument, origin)
        if origin is None:
            return self._own_annotation(tensor)
        match origin.kind:
            case OriginKind.CONSTRAINT:
                return self._constraint(origin.op)
            case OriginKind.MANUAL_INPUT | OriginKind.MANUAL_OUTPUT:
                return self._manual(tensor, origin)
            case OriginKind.INPUT:
                return self._own_annotation(tensor)
            case OriginKind.OUTPUT:
                return self._result_annotation(tensor, origin)

    def __iter__(self) -> Iterator[Annotation]:
        """Yield the annotations of the program, in the order of its text.

        Those are on arguments and results of functions, on sharding constraints, on manual
        computations and on other ops. What the input of a constraint or of a manual computation
        has from it is not one.
        """
        own = {
            "constraint": {self._record.results[mark][0] for mark in self._record.constraints},
            "manual input": self._manual_arguments(),
        }
        met: set[int] = set()
        for _, tensor in sorted(self._correspondence.tensor_by_value.items()):
            if tensor in met or self._record.annotated[tensor] is None:
                continue
            met.add(tensor)
            annotation = self.of(tensor)
            if annotation.kind not in own or tensor in own[annotation.kind]:
                yield annotation

    def _manual_arguments(self) -> set[int]:
        """Return the tensors that are the arguments of manual computations."""
        tensors = self._correspondence.tensor_by_value
        return {
            tensors[number]
            for op in self._program.ops
            if op.name == MANUAL_COMPUTATION
            for number in op.arguments
            if number in tensors
        }

    @cached_property
    def _annotated_arguments(self) -> dict[int, tuple[Value, int]]:
        """The tensors of the arguments that the source annotates, with their places among these."""
        annotated = {
            (function_name(function), index)
            for function in functions_of(self._source)
            for index, entry in enumerate(signature_entries(function, "arg_attrs"))
            if SHARDING in entry
        }
        tensors = self._correspondence.tensor_by_value
        return {
            tensors[number]: (self._program.values[number], index)
            for function in self._program.functions
            for index, number in enumerate(function.arguments)
            if (function.name, index) in annotated and number in tensors
        }

    @cached_property
    def _constraint_of(self) -> dict[int, int]:
        """For the tensors that have their sharding from a constraint, the constraint's number."""
        record = self._record
        found: dict[int, int] = {}
        for number, mark in enumerate(record.constraints):
            (result,) = record.results[mark]
            found[result] = number
            for given in record.op_tensors[mark][:1]:
                if record.annotated[given] == record.annotated[result]:
                    found.setdefault(given, number)
        return found

    def _origin(self, tensor: int, axis: AxisRef | None) -> Origin | None:
        origins = self._record.origins.get(tensor, {})
        if axis is None:
            return next(iter(origins.values()), None)
        overlapping = (origin for own, origin in origins.items() if own.overlaps(axis))
        return origins.get(axis) or next(overlapping, None)

    def _manual(self, tensor: int, origin: Origin) -> Annotation:
        """Return the annotation that a manual computation has for an input or an output."""
        kind: AnnotationKind = "manual output"
        if origin.kind is OriginKind.MANUAL_INPUT:
            kind = "manual input"
        place = self._naming.place_of(self._record.manual_computations[origin.op])
        return self._annotation(kind, tensor, place, _manual_text(kind, origin.index), origin)

    def _constraint(self, number: int) -> Annotation:
        """Return the annotation that a sharding constraint is."""
        mark = self._record.constraints[number]
        (constrained,) = self._record.results[mark]
        text = f"sharding constraint on {self._naming.label_of(constrained)}"
        origin = Origin(OriginKind.CONSTRAINT, op=number)
        return self._annotation(
            "constraint", constrained, self._naming.place_of(mark), text, origin
        )

    def _own_annotation(self, tensor: int) -> Annotation:
        """Return the annotation that is on a tensor itself: an argument, a result or an op's."""
        if tensor in self._constraint_of:
            return self._constraint(self._constraint_of[tensor])
        value = self._naming.value_of(tensor)
        if value is None:
            return self._annotation(
                "op", tensor, NOWHERE, f"sharding of {self._naming.name_of(tensor)}"
            )
        if value.op is not None:
            return self._annotation_of_op(tensor, value, self._program.ops[value.op])
        function = next(f for f in self._program.functions if f.name == value.function)
        if value.number in function.results:
            origin = Origin(OriginKind.OUTPUT, function.results.index(value.number))
            return self._annotation("result", tensor, value.place, str(value), origin)
        return self._argument(tensor, value, function.arguments.index(value.number))

    def _argument(
        self, tensor: int, value: Value, index: int, origin: Origin | None = None
    ) -> Annotation:
        """Return the annotation that is on an argument of a function."""
        origin = origin or Origin(OriginKind.INPUT, index)
        return self._annotation("argument", tensor, value.place, f"argument {value}", origin)

    def _annotation_of_op(self, tensor: int, value: Value, op: Op) -> Annotation:
        """Return the annotation that an op has for a result, or for an argument of its region."""
        if op.name != MANUAL_COMPUTATION:
            return self._annotation("op", tensor, op.place, f"sharding on the op of {value}")
        kind: AnnotationKind = "manual output"
        if value.number in op.arguments:
            kind, index = "manual input", op.arguments.index(value.number)
        else:
            index = op.results.index(value.number)
        return self._annotation(kind, tensor, op.place, _manual_text(kind, index))

    def _result_annotation(self, tensor: int, origin: Origin) -> Annotation:
        """Return the annotation that a function's result has, which a tensor is returned as."""
        value = self._naming.value_of(tensor)
        for function in self._program.functions:
            if value is not None and function.name == value.function:
                result = self._program.values[function.results[origin.index]]
                of_result = self._correspondence.tensor_by_value.get(result.number, tensor)
                return self._annotation("result", of_result, result.place, str(result), origin)
        return self._own_annotation(tensor)

    def _annotation(
        self,
        kind: AnnotationKind,
        tensor: int,
        place: Place,
        text: str,
        origin: Origin | None = None,
    ) -> Annotation:
        value = self._correspondence.value_by_tensor.get(tensor)
        # The body of a manual computation has only a part of what that says.
        is_manual = kind in ("manual input", "manual output")
        sharding = None if is_manual else self._record.annotated[tensor]
        return Annotation(kind, value, sharding, place, text, "" if origin is None else str(origin))


def _manual_text(kind: AnnotationKind, index: int) -> str:
    return f"{kind.removeprefix('manual ')} {index} of a manual computation"
