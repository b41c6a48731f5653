"""Reshards the results of calls that are not sharded as the function leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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
        calls = module.ops(CALL)
        if not calls:
            return
        functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        known: dict[str, tuple[TensorSharding, ...] | None] = {}
        inserted: list[list[ir.Operation]] = []
        for call in calls:
            name = callee_name(call)
            if name not in known:
                known[name] = result_shardings(functions[name], module.codec)
            inserted.append(_reshard_results(call, known[name], module.codec))
        pairs = zip(calls, inserted, strict=True)
        module.replace_ops({call: [call, *reshards] for call, reshards in pairs if reshards})


def _reshard_results(
    call: ir.Operation, left: tuple[TensorSharding, ...] | None, codec: AttributeCodec
) -> list[ir.Operation]:
    """Give a call the shardings in which its function leaves the results; reshard from those.

    Returns the reshards in the order of the text.
    """
    wanted: tuple[TensorSharding | None, ...] = (None,) * len(call.results)
    if SHARDING in call.attributes:
        wanted = codec.shardings(call.attributes[SHARDING])
    elif left is None:
        return []
    if left is None:
        left = tuple(_closed_like(sharding) for sharding in wanted if sharding is not None)
    reshards = [
        _reshard(result, _closed_like(old) if new is None else new, codec)
        for result, old, new in zip(call.results, left, wanted, strict=True)
        if not old.splits_alike(new)
    ]
    call.attributes[SHARDING] = codec.list_attribute(left)
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
