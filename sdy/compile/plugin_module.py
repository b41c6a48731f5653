"""Programs in the form in which compilers in plugins take them: StableHLO and no other dialect."""

from __future__ import annotations

from jaxlib.mlir import ir

from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import MHLO_COPY
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING

__all__ = ["copies_to_constraints"]


def copies_to_constraints(module: ir.Module) -> None:
    """Turn each `mhlo.copy` into a `@Sharding` custom call with its sharding, in place.

    XLA's partitioner turns such a call back into a copy before it does anything else.
    """
    with module.context, ir.Location.unknown():
        target = ir.StringAttr.get("Sharding")
        for op in IndexedModule(module).ops(MHLO_COPY):
            call = ir.Operation.create(
                "stablehlo.custom_call",
                [op.results[0].type],
                [op.operands[0]],
                {"call_target_name": target, HLO_SHARDING: op.attributes[HLO_SHARDING]},
                loc=op.location,
                ip=ir.InsertionPoint(op),
            )
            op.results[0].replace_all_uses_with(call.results[0])
            op.erase()
