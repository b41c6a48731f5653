"""A program that is propagated while a record is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.explain.call_places import CallPlaces
from sdy.explain.correspondence import Correspondence
from sdy.explain.inquiry import Inquiry
from sdy.explain.locations import PlaceReader
from sdy.explain.op_marks import mark_ops, unmark_ops
from sdy.explain.program import read_program
from sdy.explain.record import propagate_recorded
from sdy.ir.diagnostics import verify
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import FUNCTION
from sdy.ir.values import function_name, operations
from sdy.passes.pass_manager import PassManager, collector_paused, run_step
from sdy.passes.pipeline import parse_pipeline
from sdy.passes.propagation.passes import UserPriorityPropagate
from sdy.passes.propagation_pipeline import PropagationPipeline

if TYPE_CHECKING:
    from sdy.explain.locations import Place
    from sdy.explain.program import Program
    from sdy.explain.record import Record

__all__ = ["Traced", "clone_module", "trace"]


class Traced:
    """A program that has been propagated, and the record of that.

    Attributes:
      source: the program before.
      exported: the module after the export passes, not to be changed; the marks of its ops are
        their numbers in the record.
      record: what propagation did; None for a module without functions.
      pipeline: the passes that were run.

    """

    def __init__(
        self,
        source: ir.Module,
        exported: ir.Module,
        record: Record | None,
        pipeline: PropagationPipeline,
    ) -> None:
        self.source = source
        self.exported = exported
        self.record = record
        self.pipeline = pipeline
        self._places = PlaceReader()

    @cached_property
    def module(self) -> ir.Module:
        """The module after the export passes, as `sdy.propagate` gives it: without marks."""
        module = clone_module(self.exported)
        unmark_ops(operations(module.operation))
        return module

    @cached_property
    def program(self) -> Program:
        """The module after the export passes as tables."""
        return read_program(self.exported)

    @cached_property
    def correspondence(self) -> Correspondence:
        """Which ops and tensors of the record are which ops and values of the program."""
        return Correspondence(self.record, self.program)

    @cached_property
    def inquiry(self) -> Inquiry | None:
        """What answers questions about values; None for a module without functions."""
        return None if self.record is None else Inquiry(self, self.record)

    @cached_property
    def from_source(self) -> Program:
        """The same tables as `program`, but that marks are the numbers of the ops of `source`.

        Ops are numbered in the order of the text, parents first.
        """
        module = clone_module(self.source)
        mark_ops(operations(module.operation))
        PassManager(parse_pipeline(self.pipeline.text()), module.context).run(module)
        return read_program(module)

    def place(self, op: ir.Operation) -> Place:
        """Return where in the source an op comes from; else where its function is called."""
        place = self._places.read(op.location)
        if place.frames:
            return place
        function = op
        while function.name != FUNCTION and function.parent is not None:
            function = function.parent.operation
        return replace(place, frames=self._call_places.frames(function_name(function)))

    @cached_property
    def _call_places(self) -> CallPlaces:
        return CallPlaces(self.program)


def trace(source: ir.Module, pipeline: PropagationPipeline | None = None) -> Traced:
    """Propagate a copy of a module, and record it.

    Args:
      source: the module.
      pipeline: the passes to run; None for those of `sdy.propagate`.

    Raises:
      Error: located, where the program cannot be propagated.

    """
    pipeline = pipeline or PropagationPipeline()
    module = clone_module(source)
    indexed, record = IndexedModule(module), None
    with module.context, collector_paused():
        for step in parse_pipeline(pipeline.text()).steps:
            if isinstance(step.action, UserPriorityPropagate):
                follow_composites = step.action.follow_composites
                record = propagate_recorded(indexed, follow_composites=follow_composites)
            else:
                run_step(step, indexed)
    verify(module)
    return Traced(source, module, record, pipeline)


def clone_module(module: ir.Module) -> ir.Module:
    """Return a copy of a module, in the same context."""
    with module.context, ir.Location.unknown():
        content = module.operation.clone().operation
        copy, discarded = ir.Module.create(content.location), ir.Module.create()
    for name, attribute in content.attributes.items():
        copy.operation.attributes[name] = attribute
    copy.operation.regions[0].blocks[0].append_to(discarded.operation.regions[0])
    content.regions[0].blocks[0].append_to(copy.operation.regions[0])
    return copy
