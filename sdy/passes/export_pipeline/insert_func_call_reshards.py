"""Reshards the results of calls that are not sharded as the function leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.function_shardings import result_shardings
from sdy.ir.op_names import CALL, FUNCTION, RESHARD
from sdy.ir.symbols import symbol_name
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["InsertFuncCallReshards"]


@dataclass(frozen=True, slots=True)
class InsertFuncCallReshards(Pass):
    """Puts a reshard on the result of a call where the function's result is sharded otherwise.

    Calls get the shardings of the function's results, and what used the call uses the
    reshard. A function without shardings counts as not split at all.
    """

    name: ClassVar[str] = "sdy-insert-func-call-reshards"

    def run(self, module: IndexedModule) -> None:
        """Insert the reshards in place."""
        numbers = module.numbers(CALL)
        if not numbers:
            return
        ops = module.late_ops
        functions = {symbol_name(ops[n]): ops[n] for n in module.numbers(FUNCTION)}
        plans: dict[tuple[str, ir.Attribute | None], _CallPlan] = {}
        shardings: dict[int, ir.Attribute] = {}
        inserted: dict[int, list[ir.Operation]] = {}
        for number in numbers:
            call = ops[number]
            name, wanted = callee_name(call), module.attribute(number, SHARDING)
            plan = plans.get((name, wanted))
            if plan is None:
                plan = plans[name, wanted] = _plan(functions[name], wanted, call, module.codec)
            if plan.sharding is not None:
                shardings[number] = plan.sharding
            if plan.reshards:
                inserted[number] = _reshard_results(call, plan, module.codec)
        module.set_attributes(SHARDING, shardings)
        if inserted:
            # MLIR hashes an op by its content.
            module.write_attributes()
            module.replace_ops({ops[n]: [ops[n], *reshards] for n, reshards in inserted.items()})


class _CallPlan(NamedTuple):
    """What becomes of a call.

    Attributes:
      sharding: the shardings that it gets; None where they stay.
      reshards: the shardings of the reshards of its results, by the result.

    """

    sharding: ir.Attribute | None
    reshards: dict[int, TensorSharding]


def _plan(
    function: ir.Operation,
    attribute: ir.Attribute | None,
    call: ir.Operation,
    codec: AttributeCodec,
) -> _CallPlan:
    """Return what gives a call the shardings in which its function leaves the results."""
    left = result_shardings(function, codec)
    wanted: tuple[TensorSharding | None, ...] = (None,) * len(call.results)
    if attribute is not None:
        wanted = codec.shardings(attribute)
    elif left is None:
        return _CallPlan(None, {})
    if left is None:
        left = tuple(_closed_like(sharding) for sharding in wanted if sharding is not None)
    reshards = {
        index: _closed_like(old) if new is None else new
        for index, (old, new) in enumerate(zip(left, wanted, strict=True))
        if not old.splits_alike(new)
    }
    return _CallPlan(codec.list_attribute(left), reshards)


def _reshard_results(
    call: ir.Operation, plan: _CallPlan, codec: AttributeCodec
) -> list[ir.Operation]:
    """Insert the reshards of a call; return them in the order of the text."""
    results = call.results
    reshards = [
        _reshard(results[index], sharding, codec) for index, sharding in plan.reshards.items()
    ]
    return reshards[::-1]


def _reshard(result: ir.Value, sharding: TensorSharding, codec: AttributeCodec) -> ir.Operation:
    reshard = ir.Operation.create(
        RESHARD,
        results=[result.type],
        operands=[result],
        attributes={"sharding": codec.attribute(sharding)},
        loc=result.location,
        # Right behind the call, so that the one of the last result comes first.
        ip=insertion_point_after(result),
    )
    result.replace_all_uses_except(reshard.result, reshard)
    return reshard


def _closed_like(sharding: TensorSharding) -> TensorSharding:
    return TensorSharding.fully_closed(sharding.mesh, sharding.rank)
