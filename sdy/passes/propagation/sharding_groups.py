"""Sharding groups: tensors that must be sharded alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.dialect.sharding import TensorSharding
from sdy.ir.data_flow import owning_op
from sdy.ir.diagnostics import warn
from sdy.ir.op_names import CONSTRAINT, GROUP
from sdy.ir.types import rank
from sdy.passes.propagation.interner import NO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.tensors import Tensors

__all__ = [
    "Groups",
    "constrain_conflicting_groups",
    "group_of_value",
    "shared_within_groups",
    "value_groups",
]


Groups = dict[tuple[int, int], tuple[int, ...]]
"""The values of each sharding group that are of one rank, by the group's id and that rank."""


def value_groups(graph: Graph) -> Groups:
    """Return the values of the sharding groups, those of one group in the order of the text.

    Values of different ranks cannot be sharded alike: where a group has such, those of each rank
    are a group, with a warning.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    group_of: dict[int, int] = {}
    first_of: dict[int, int] = {}
    for op in graph.ops_named(GROUP):
        group = ir.IntegerAttr(graph.ops[op].attributes["group_id"]).value
        (value,) = graph.operands[op]
        if group_of.setdefault(value, group) != group:
            raise Error("Value can only map to one sharding group id after import.")
        dimensions = rank(graph.type_of(value))
        if first_of.setdefault(group, dimensions) != dimensions:
            warn(graph.ops[op], f"sharding group {group} has values of different ranks")
        groups.setdefault((group, dimensions), []).append(value)
    return {key: tuple(values) for key, values in sorted(groups.items())}


def group_of_value(groups: Groups) -> dict[int, tuple[int, ...]]:
    """Return for each value that is in a group all values of that group."""
    return {value: values for values in groups.values() for value in values}


def _distinct_shardings(tensors: Tensors, values: Sequence[int]) -> list[int]:
    """Return the shardings in a group that say something, in order, each once."""
    numbers = dict.fromkeys(tensors.shardings[tensors.of_value[value]] for value in values)
    return [number for number in numbers if _says_something(tensors.interner.sharding(number))]


def _says_something(sharding: TensorSharding | None) -> bool:
    return sharding is not None and any(d.axes or d.is_closed for d in sharding.dimensions)


def shared_within_groups(tensors: Tensors, groups: Groups) -> Iterator[tuple[int, TensorSharding]]:
    """Yield the members of groups that get the sharding of another member, with that sharding."""
    for values in groups.values():
        numbers = _distinct_shardings(tensors, values)
        sharding = tensors.interner.sharding(numbers[0]) if len(numbers) == 1 else None
        if sharding is None:
            continue
        for value in values:
            tensor = tensors.of_value[value]
            if tensors.shardings[tensor] != numbers[0]:
                yield tensor, sharding


def constrain_conflicting_groups(tensors: Tensors, groups: Groups, codec: AttributeCodec) -> bool:
    """Free the groups whose members disagree, with a warning; return whether there was one.

    Every member is put behind an open sharding constraint, and the constraints are the group
    from then on: the users of the members then agree, and the members stay as they were.
    """
    found = False
    for (group, _), values in groups.items():
        numbers = _distinct_shardings(tensors, values)
        if len(numbers) < 2:
            continue
        found = True
        first = tensors.interner.sharding(numbers[0])
        if first is None:
            raise AssertionError(f"{NO_SHARDING} says nothing")
        members = [tensors.graph.value(value) for value in values]
        warn(
            owning_op(members[0]),
            "The initial operand shardings on the sharding groups of groupID: "
            f"{group} do not match. Inserting an open sharding constraint to all constrained "
            "values. This can be caused when shardings from different values are grouped (e.g. "
            "from jax.shard_alike) but have separate inconsistent sharding constraints on them.",
        )
        for member in members:
            _constrain(member, TensorSharding.fully_open(first.mesh, first.rank), codec)
    return found


def _constrain(member: ir.Value, sharding: TensorSharding, codec: AttributeCodec) -> None:
    """Put `member` behind a sharding constraint, for all its users."""
    constraint = ir.Operation.create(
        CONSTRAINT,
        results=[member.type],
        operands=[member],
        attributes={"sharding": codec.attribute(sharding)},
        loc=member.location,
        ip=_after(member),
    )
    member.replace_all_uses_except(constraint.results[0], constraint)


def _after(value: ir.Value) -> ir.InsertionPoint:
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner)
