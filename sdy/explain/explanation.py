"""The explanation of a program: what can be asked about its shardings."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sdy.dialect.errors import check_type
from sdy.explain.answers import Why
from sdy.explain.communication import communications
from sdy.explain.cost_tables import cost_tables
from sdy.explain.difference import compare
from sdy.explain.html_page import html_page
from sdy.explain.json_form import JsonForm
from sdy.explain.memory import memory
from sdy.explain.overview import overview
from sdy.explain.placement import placement_text
from sdy.explain.program import MAIN, Value
from sdy.explain.rematerialization import rematerialization_warnings
from sdy.explain.suggestions import suggest
from sdy.explain.totals import total_up
from sdy.explain.traced import trace
from sdy.explain.value_names import check_dimension, find_value, parse_axis
from sdy.explain.what_if import with_annotation
from sdy.explain.why_text import short_reason

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.annotations import Annotation
    from sdy.explain.communication import Communication
    from sdy.explain.difference import Difference
    from sdy.explain.memory import Memory
    from sdy.explain.program import Op, Program
    from sdy.explain.suggestions import Suggestion
    from sdy.explain.topologies import Topology
    from sdy.explain.totals import Totals
    from sdy.explain.traced import Traced
    from sdy.ir.diagnostics import Diagnostic

__all__ = ["Explanation"]

_ROWS = 20


class Explanation:
    """Why a program is sharded as it is.

    `sdy.explain` makes one. Nothing is worked out before it is asked for.
    """

    def __init__(self, traced: Traced, topology: Topology | None = None) -> None:
        self._traced = traced
        self._topology = topology

    @property
    def module(self) -> ir.Module:
        """The propagated program, as `sdy.propagate` gives it."""
        return self._traced.module

    @property
    def program(self) -> Program:
        """The propagated program as tables."""
        return self._traced.program

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of the propagated program, in the order of its text."""
        return self.program.values

    @property
    def ops(self) -> tuple[Op, ...]:
        """The ops of the propagated program, in the order of its text."""
        return self.program.ops

    def value(self, name: str, function: str = MAIN, *, occurrence: int | None = None) -> Value:
        """Return a value by what it is called.

        Args:
          name: as `sdy.shardings` has it, `%42`, `%arg0` or `@main result 0`; `@f:%42` for one of
            another function, `%42/1` for the second of several; or what the source calls it, such
            as `params['w']`.
          function: in which function the name stands, if the name itself does not say so.
          occurrence: which value of that name, from 0 in the order of the text. Regions of one
            function may use the same names.

        Raises:
          Error: where there is no such value, or several.

        """
        return find_value(self.program, name, function, occurrence=occurrence)

    def why(
        self,
        value: str | Value,
        dim: int | None = None,
        axis: str | None = None,
        *,
        function: str = MAIN,
    ) -> Why:
        """Return why a value is sharded as it is.

        Args:
          value: one of `values`, or what it is called; see `value`.
          dim: one dimension; all of them by default.
          axis: an axis of the mesh, or a part of one, `"x":(1)2`; all by default. Where it does
            not split the dimension, the answer is why not.
          function: in which function the name stands, if the name itself does not say so.

        Raises:
          Error: where there is no such value, dimension or axis, or several values.

        """
        found = self._resolve(value, function)
        dims = range(len(found.shape))
        if dim is not None:
            check_dimension(found, dim)
            dims = range(dim, dim + 1)
        asked = None if axis is None else parse_axis(self.program, axis)
        if self._traced.inquiry is None:
            return Why(found, None, (), ())
        return self._traced.inquiry.why(found, dims, asked)

    def _resolve(self, value: str | Value, function: str) -> Value:
        check_type(value, (str, Value), "value", "the name of a value, or one of `values`")
        return self.value(value, function) if isinstance(value, str) else value

    def placement(self, value: str | Value, *, function: str = MAIN) -> str:
        """Return a drawing of which device holds which part of a value.

        Args:
          value: one of `values`, or what it is called; see `value`.
          function: in which function the name stands, if the name itself does not say so.

        Raises:
          Error: where there is no such value, or several.

        """
        return placement_text(self._resolve(value, function))

    @cached_property
    def annotations(self) -> tuple[Annotation, ...]:
        """The shardings that the program itself says, in the order of its text."""
        return (
            () if self._traced.inquiry is None else tuple(self._traced.inquiry.chains.annotations)
        )

    def reason(self, value: Value) -> str:
        """Return in one line what kept a value from being split; '' where nothing came near."""
        if self._traced.inquiry is None:
            return ""
        why = self._traced.inquiry.why(value, range(len(value.shape)), is_near=True)
        return short_reason(why)

    # What it costs.

    @property
    def topology(self) -> Topology | None:
        """The machine for which times are told; None where there are none."""
        return self._topology

    @cached_property
    def communication(self) -> tuple[Communication, ...]:
        """Where XLA's partitioner is to add collectives, in the order of the program's text."""
        return communications(self._traced, self._topology)

    @cached_property
    def totals(self) -> Totals:
        """What the communication comes to, by kind, by axes and by line of the source."""
        return total_up(self.communication)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What XLA is to warn of when it compiles the program, with the lines of the source."""
        return rematerialization_warnings(self.communication)

    @cached_property
    def memory(self) -> Memory:
        """The memory that one device needs, an estimate."""
        return memory(self._traced)

    def suggestions(self, top: int = 3) -> tuple[Suggestion, ...]:
        """Return the annotations that would save the most, each tried, the best first.

        That takes the time of some propagations of the program.

        Args:
          top: how many there are at most.

        """
        return suggest(self._traced, top=top, topology=self._topology)

    # What if.

    def with_constraint(
        self,
        value: str | Value | tuple[str | Value, ...],
        sharding: TensorSharding | str,
        *,
        function: str = MAIN,
    ) -> Explanation:
        """Return the explanation of the same program that also says how a value is sharded.

        An argument or a result of a function is annotated; another value gets a sharding
        constraint. The program is propagated again; this explanation stays as it is.

        Args:
          value: one of `values`, or what it is called; see `value`. Several, such as the values of
            a suggestion, are each annotated so.
          sharding: what the program is to say, a value or its text: `<@mesh, [{"x"}, {?}]>`.
          function: in which function the name stands, if the name itself does not say so.

        Raises:
          Error: where there is no such value, or the sharding does not fit it.

        """
        asked = value if isinstance(value, tuple) else (value,)
        found = [self._resolve(each, function) for each in asked]
        module = with_annotation(self._traced, found, sharding)
        return Explanation(trace(module, self._traced.pipeline), self._topology)

    def diff(self, other: Explanation) -> Difference:
        """Return what is different in the explanation of another program, or of a changed one."""
        check_type(other, Explanation, "other", "an Explanation")
        return compare(self, other)

    # As a whole.

    def document(self, suggestions: int = 0) -> dict[str, Any]:
        """Return all that is known, as plain data; see `docs/explain.md` for its tables.

        Args:
          suggestions: how many annotations that save communication are told at most. To try them
            takes the time of some propagations.

        """
        check_type(suggestions, int, "suggestions", "an int")
        form = JsonForm(self._traced)
        return form.document(cost_tables(self, form, suggestions))

    def to_json(self, indent: int | None = None, *, suggestions: int = 0) -> str:
        """Return the document as JSON, in ASCII."""
        document = self.document(suggestions)
        return json.dumps(document, indent=indent, separators=None if indent else (",", ":"))

    def to_html(self, *, suggestions: int = 0) -> str:
        """Return the document as a page for a browser, one file that loads nothing."""
        return html_page(self.document(suggestions))

    def __str__(self) -> str:
        return "\n".join(overview(self, _ROWS))
