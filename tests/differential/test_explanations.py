"""What an explanation says is what the reference's debug attributes say: origins and edges.

Both start from the same imported program. Where the reference names operands that are not there,
in loops and branches, our own debug attributes stand for it: see `test_debug_attributes`.
"""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

import sdy
from sdy.explain.history import History
from sdy.explain.record import Record, propagate_recorded
from sdy.explain.traced import Traced
from sdy.explain.why import Chains
from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS, owning_op
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import FUNCTION
from sdy.ir.signature_attributes import signature_entries
from sdy.passes.propagation.axis_flows import AxisFlow
from sdy.passes.propagation.edges import edges_text
from sdy.passes.propagation_pipeline import PropagationPipeline
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.reference import Reference
from tests.differential.test_debug_attributes import (
    EDGES,
    IMPORT,
    ORIGINS,
    ours,
    random_input,
)


def explained(program: str) -> tuple[Traced, Record]:
    """Propagate an imported program, and stop there."""
    module = sdy.load(program)
    with module.context:
        record = propagate_recorded(IndexedModule(module))
    assert record is not None
    return Traced(module, module, record, PropagationPipeline()), record


def with_debug_attributes(reference: Reference, program: str, options: str) -> ir.Module:
    """Return the same program after the reference's propagation, with its debug attributes."""
    passes = f"sdy-user-priority-propagate{{{options}}}"
    text = reference.run(program, f"builtin.module({passes})").text
    return sdy.load(text or ours(program, passes))


def all_ops(module: ir.Module) -> list[ir.Operation]:
    return [op for _, op in IndexedModule(module).in_order]


# Edges.


def edges_of(record: Record) -> dict[int, str]:
    """Return what propagation moved at each op, as the debug attributes say it."""
    history = History(record)
    flows: dict[int, list[tuple[int, AxisFlow]]] = {}
    operand_counts: dict[int, int] = {}
    for number, step in enumerate(record.steps):
        if history.flows(step):
            flows.setdefault(step.op, []).extend((number, flow) for flow in history.flows(step))
            operand_counts[step.op] = len(step.case.op.rule.operands)
    return {op: edges_text(found, operand_counts[op]) for op, found in flows.items()}


def check_edges(program: str, expected: ir.Module) -> int:
    """Compare the edges at all ops but functions and data-flow edges; return how many there are.

    Both have several sources under one name there.
    """
    _, record = explained(program)
    mine = edges_of(record)
    with expected.context:
        theirs = {
            number: str(op.attributes["sdy.propagation_edges"])
            for number, op in enumerate(op for op in all_ops(expected))
            if "sdy.propagation_edges" in op.attributes
        }
    left_out = {
        number
        for number, name in enumerate(record.op_names)
        if name in (FUNCTION, DATA_FLOW_EDGE) or number in record.erased
    }
    mine = {number: text for number, text in mine.items() if number not in left_out}
    kept = [number for number in range(len(record.op_names)) if number not in record.erased]
    theirs = {kept[number]: text for number, text in theirs.items()}
    assert mine == {number: text for number, text in theirs.items() if number not in left_out}
    return len(mine)


# Origins.


def check_origins(program: str, expected: ir.Module) -> int:
    """Compare the origins of all axes of all values; return how many there are."""
    traced, record = explained(program)
    chains = Chains(traced, record)
    kept = [number for number in range(len(record.op_names)) if number not in record.erased]
    compared = 0
    for number, op in zip(kept, all_ops(expected), strict=True):
        if op.name in DATA_FLOW_OPS:
            continue  # The attributes are on the data-flow edges.
        tensors = record.arguments[number] if op.name == FUNCTION else record.results[number]
        for index, (tensor, theirs) in enumerate(zip(tensors, origins_of(op), strict=False)):
            mine = origins_by_axis(chains, record, tensor)
            compared += len(mine.keys() & theirs.keys())
            for axis in mine.keys() & theirs.keys():
                expected_origin = own_name(op, index) if theirs[axis] == "self" else theirs[axis]
                assert mine[axis] == expected_origin, (op.name, index, axis)
            # Axes of an op's own sharding have no origin.
            assert all(not mine[axis] for axis in mine.keys() - theirs.keys()), op.name
    return compared


def origins_by_axis(chains: Chains, record: Record, tensor: int) -> dict[str, str]:
    """Return for the axes of a tensor where its chain starts, as the debug attributes say it."""
    sharding = record.shardings[tensor]
    found = {}
    for dim, dimension in enumerate(() if sharding is None else sharding.dimensions):
        for axis in dimension.axes:
            annotation = chains.chain(tensor, dim, axis).annotation
            found[str(axis).replace('"', "")] = "" if annotation is None else annotation.origin
    return found


def origins_of(op: ir.Operation) -> list[dict[str, str]]:
    """Return what the debug attributes say of each result of an op, or argument of a function."""
    if op.name == FUNCTION:
        return [_of_argument(entry) for entry in signature_entries(op, "arg_attrs")]
    if "sdy.sharding_origins" not in op.attributes:
        return [{} for _ in op.results]
    origins = op.attributes["sdy.sharding_origins"]
    if isinstance(origins, ir.DictAttr):
        return [_axes(origins)]
    return [_axes(ir.DictAttr(entry)) for entry in origins]


def _of_argument(entry: ir.DictAttr) -> dict[str, str]:
    name = "sdy.sharding_origins"
    return _axes(ir.DictAttr(entry[name])) if name in entry else {}


def _axes(origins: ir.DictAttr) -> dict[str, str]:
    return {named.name: ir.StringAttr(named.attr).value for named in origins}


def own_name(op: ir.Operation, index: int) -> str:
    """Return which origin "self" stands for, at a result of an op or an argument of a function."""
    if op.name == FUNCTION:
        return f"input: {index}"
    if op.name != DATA_FLOW_EDGE:
        return str(ir.StringAttr(op.attributes["sdy.sharding_origin_name"]).value)
    owner = op.operands[0]
    computation = owning_op(owner)
    name = ir.StringAttr(computation.attributes["sdy.sharding_origin_name"]).value
    if isinstance(owner, ir.BlockArgument):
        return f"{name}_input: {owner.arg_number}"
    return f"{name}_output: {ir.OpResult(owner).result_number}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    program = reference.run(PROGRAMS[name](), f"builtin.module({IMPORT})").text
    has_groups = "sdy.sharding_group" in program
    expected = with_debug_attributes(reference, program, EDGES)
    assert check_edges(program, expected) or has_groups
    if not has_groups:
        assert check_origins(program, with_debug_attributes(reference, program, ORIGINS))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, reference: Reference) -> None:
    program = random_input(reference, seed, IMPORT)
    check_edges(program, with_debug_attributes(reference, program, EDGES))
    check_origins(program, with_debug_attributes(reference, program, ORIGINS))
