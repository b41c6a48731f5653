"""Where a program talks, and what that costs: each reshard, sum and halo, by op and line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from sdy.explain.collective_costs import axes_of_groups, seconds_of
from sdy.explain.numbering import numbered_ops, numbered_values
from sdy.explain.partitioner.program_walk import foretell
from sdy.explain.repetitions import Repetitions
from sdy.ir.indexed_module import IndexedModule

if TYPE_CHECKING:
    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.locations import Place
    from sdy.explain.partitioner.exchanges import Kind
    from sdy.explain.partitioner.op_case import Role
    from sdy.explain.topologies import Topology
    from sdy.explain.traced import Traced

__all__ = ["Collective", "Communication", "Reason", "communications"]

Reason: TypeAlias = Literal["reshard", "reduction", "halo", "explicit"]

_REASONS: dict[Role, Reason] = {
    "operand": "reshard",
    "copy": "reshard",
    "result": "reshard",
    "sum": "reduction",
    "halo": "halo",
    "explicit": "explicit",
}


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective that XLA's partitioner is to add.

    Attributes:
      kind: as HLO names it: `all-gather`, `all-reduce`, `all-to-all` or `collective-permute`.
      axes: the axes along which devices exchange data, major first.
      size: the bytes of its result on one device, as `Executable.collectives` counts them.
      bytes: how many a device sends.
      seconds: the time that it takes; None without a topology.

    """

    kind: Kind
    axes: tuple[AxisRef, ...]
    size: int
    bytes: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Communication:
    """A point of communication of a propagated program.

    Attributes:
      op: the number of the op that needs it: the user of a tensor that is resharded, or the op
        that leaves parts of a sum. None for an op that the program's tables do not have.
      value: the number of the tensor that is moved; None likewise.
      place: where the op comes from.
      reason: a reshard, a reduction, a halo that neighbours send to a shard, or a collective that
        the program has itself.
      from_: the sharding before; of a reduction, with the summed axes unreduced.
      to: the sharding after.
      shape: of the whole tensor.
      element_type: `f32`.
      collectives: what is added, in order.
      times: how often it happens in one run: turns of loops, calls of functions.
      copies: how often XLA has it in its program, which has a copy of a function for each call.
      rematerializes: whether XLA is to warn of an involuntary full rematerialization.

    """

    op: int | None
    value: int | None
    place: Place
    reason: Reason
    from_: TensorSharding
    to: TensorSharding
    shape: tuple[int, ...]
    element_type: str
    collectives: tuple[Collective, ...]
    times: int = 1
    copies: int = 1
    rematerializes: bool = False

    @property
    def bytes(self) -> int:
        """How many bytes a device sends in one run of the program."""
        return self.times * sum(collective.bytes for collective in self.collectives)

    @property
    def seconds(self) -> float | None:
        """The time that it takes in one run of the program; None without a topology."""
        seconds = [c.seconds for c in self.collectives if c.seconds is not None]
        return self.times * sum(seconds) if len(seconds) == len(self.collectives) else None


def communications(source: Traced, topology: Topology | None = None) -> tuple[Communication, ...]:
    """Return where XLA's partitioner adds collectives to a program, in the order of the text.

    Args:
      source: the program.
      topology: the machine; None where there is to be no time.

    Raises:
      Error: if the machine has another number of devices than the program's mesh.

    """
    ops = numbered_ops(source.exported, source.program)
    values = numbered_values(source.exported, source.program)
    repetitions = Repetitions(IndexedModule(source.exported))
    # By identity: exchanges are shared, and their groups may be of thousands of devices.
    collectives: dict[int, Collective] = {}
    found: list[Communication] = []
    points = foretell(source.exported)
    for point in points:
        mesh = point.exchange.to.bound_mesh
        for exchange in point.exchange.exchanges:
            if id(exchange) not in collectives:
                collectives[id(exchange)] = Collective(
                    exchange.kind,
                    axes_of_groups(exchange.groups, mesh),
                    exchange.bytes,
                    exchange.sent,
                    None if topology is None else seconds_of(exchange, topology, mesh),
                )
        times, copies = repetitions.of(point.op)
        type_ = point.value.type
        found.append(
            Communication(
                op=ops.get(point.op),
                value=values.get(point.value),
                place=source.place(point.op),
                reason=_REASONS[point.exchange.role],
                from_=point.exchange.from_,
                to=point.exchange.to,
                shape=tuple(type_.shape),
                element_type=str(type_.element_type),
                collectives=tuple(collectives[id(e)] for e in point.exchange.exchanges),
                times=times,
                copies=copies,
                rematerializes=point.exchange.is_full_rematerialization,
            )
        )
    return tuple(found)
