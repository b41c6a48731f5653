"""A propagation that is recorded: what was known before, every step, what was known after."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.explain.op_marks import mark_ops
from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS, MANUAL_COMPUTATION
from sdy.ir.op_names import CONSTRAINT, FUNC_EDGE, FUNCTION, RETURN
from sdy.passes.propagation.composites import composites_followed
from sdy.passes.propagation.op_classes import NO_CLASS
from sdy.passes.propagation.op_priorities import OP_PRIORITIES
from sdy.passes.propagation.origins import annotated_ops, initial_origins
from sdy.passes.propagation.schedule import Schedule, propagate_shardings
from sdy.passes.propagation.step_case import Strategy
from sdy.passes.propagation.user_rule_attributes import write_user_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jaxlib.mlir import ir

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.engine import Engine
    from sdy.passes.propagation.origins import Origin
    from sdy.passes.propagation.recording import RecordedStep, Recording
    from sdy.passes.propagation.step_case import OpClass

__all__ = ["Record", "propagate_recorded"]

_EDGES = frozenset({DATA_FLOW_EDGE, FUNC_EDGE})

# The ops around the values that annotations are on.
_ANNOTATED = frozenset({CONSTRAINT, DATA_FLOW_EDGE, FUNCTION, MANUAL_COMPUTATION, RETURN})


@dataclass(frozen=True, slots=True)
class Record:
    """What propagation knew and did, in plain values: ops and tensors are numbers.

    An op's number is its mark in the module from then on. Several values can be one tensor: see
    `sdy.passes.propagation.tensors`.

    Attributes:
      op_names: of each op.
      classes: what a step reads of each op; None for one that takes no step.
      op_tensors: for each op the tensors of its step, operands first.
      results: for each op the tensors of its results; for a function, those of its results.
      arguments: for each function or data-flow op the tensors of the arguments of its regions,
        region by region.
      edges: for the tensor of a data-flow edge, the op of the edge.
      constraints: the sharding constraints, by their numbers as origins.
      manual_computations: the manual computations, by their numbers as origins.
      erased: the ops that propagation erased, because they were dead.
      locations: of each op.
      groups: for a tensor in a sharding group, all tensors of that group.
      annotated: the shardings before propagation.
      origins: for a tensor, whose annotation each axis was then; an axis that is missing was on
        an op itself.
      steps: what propagation did, in order.
      shardings: those after it.
      seen: for the edge of a manual computation, the sharding of its last tensor as the op
        sees it.

    """

    op_names: Sequence[str]
    classes: Sequence[OpClass | None]
    op_tensors: Sequence[tuple[int, ...]]
    results: Sequence[tuple[int, ...]]
    arguments: Mapping[int, tuple[int, ...]]
    edges: Mapping[int, int]
    constraints: Sequence[int]
    manual_computations: Sequence[int]
    erased: frozenset[int]
    locations: Sequence[ir.Location]
    groups: Mapping[int, tuple[int, ...]]
    annotated: Sequence[TensorSharding | None]
    origins: Mapping[int, Mapping[AxisRef, Origin]]
    steps: Sequence[RecordedStep]
    shardings: Sequence[TensorSharding | None]
    seen: Mapping[int, TensorSharding | None]


_SCHEDULE = Schedule(
    strategies=(Strategy.AGGRESSIVE,),
    op_priorities=OP_PRIORITIES,
    user_priorities=True,
    keep_rules=True,
)
"""That of `sdy-user-priority-propagate` in the propagation pipeline."""


def propagate_recorded(module: IndexedModule, *, follow_composites: bool = False) -> Record | None:
    """Do in `module` what `sdy-user-priority-propagate` does, mark the ops, and return a record.

    The sharding rules stay on the ops. None for a module without functions.

    Raises:
      Error: as that pass does.

    """
    recorder = _Recorder(module)
    write_user_rules(module)
    with composites_followed(module) if follow_composites else nullcontext():
        propagate_shardings(module, _SCHEDULE, watcher=recorder)
    return recorder.record


class _Recorder:
    """Makes the record.

    Attributes:
      record: None before the end.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.record: Record | None = None
        self._module = module
        self._locations: Sequence[ir.Location] = ()
        self._before: _Before | None = None

    def before(self, engine: Engine) -> None:
        """Mark the ops, and read what the program says."""
        self._locations = mark_ops(engine.graph.ops)
        self._before = _before(self._module, engine)

    def after(self, engine: Engine, recording: Recording) -> None:
        """Read what has become of it."""
        if self._before is not None:
            self.record = _read(engine, recording, self._before, self._locations)


@dataclass(frozen=True, slots=True)
class _Before:
    """What is known before propagation; see `Record`."""

    annotated: Sequence[TensorSharding | None]
    origins: Mapping[int, Mapping[AxisRef, Origin]]
    constraints: Sequence[int]
    manual_computations: Sequence[int]


def _before(module: IndexedModule, engine: Engine) -> _Before:
    graph, tensors = engine.graph, engine.tensors
    numbers = {
        graph.value(value): value
        for op, name in enumerate(graph.names)
        if name in _ANNOTATED
        for value in (*graph.operands[op], *graph.results[op], *graph.arguments(op))
    }
    _, computations = annotated_ops(module)
    origins = initial_origins(module).of_value
    return _Before(
        annotated=[tensors.interner.sharding(number) for number in tensors.shardings],
        origins={tensors.of_value[numbers[value]]: axes for value, axes in origins.items()},
        constraints=[op for op, name in enumerate(graph.names) if name == CONSTRAINT],
        manual_computations=[graph.op_index(op) for op in computations],
    )


def _read(
    engine: Engine, recording: Recording, before: _Before, locations: Sequence[ir.Location]
) -> Record:
    graph, tensors, classes = engine.graph, engine.tensors, engine.classes
    of_value, sharding = _with_edges_of_functions(engine), tensors.interner.sharding
    results = [tuple([of_value[value] for value in values]) for values in graph.results]
    for function, of_function in tensors.result_tensors.items():
        results[function] = of_function
    seen: dict[int, TensorSharding | None] = {}
    for op, (seen_as, _) in classes.transforms.items():
        kept = tensors.sharding(classes.tensors[op][-1])
        seen[op] = None if kept is None else seen_as(kept)
    return Record(
        op_names=graph.names,
        classes=[None if n == NO_CLASS else classes.classes[n] for n in classes.of_op],
        op_tensors=list(classes.tensors),
        results=results,
        arguments={
            op: tuple([of_value[value] for value in graph.arguments(op)])
            for op, name in enumerate(graph.names)
            if name == FUNCTION or name in DATA_FLOW_OPS
        },
        edges={
            of_value[graph.results[op][0]]: op
            for op, name in enumerate(graph.names)
            if name in _EDGES
        },
        groups={
            of_value[value]: tuple([of_value[member] for member in members])
            for value, members in engine.groups.items()
        },
        constraints=before.constraints,
        manual_computations=before.manual_computations,
        erased=frozenset(op for op, gone in enumerate(engine.dead_ops.is_erased) if gone),
        locations=locations,
        annotated=before.annotated,
        origins=before.origins,
        steps=recording.steps,
        shardings=[sharding(number) for number in tensors.shardings],
        seen=seen,
    )


def _with_edges_of_functions(engine: Engine) -> list[int]:
    """Return for each value its tensor: for one with a function's edge on it, that of the edge."""
    graph, of_value = engine.graph, list(engine.tensors.of_value)
    for op, name in enumerate(graph.names):
        if name == FUNC_EDGE:
            (owner,), (edge,) = graph.operands[op], graph.results[op]
            of_value[owner] = of_value[edge]
    return of_value
