"""Custom calls and copies become the ops of the sdy dialect that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import BARRIER, CONSTRAINT, GROUP, MHLO_COPY, RESHARD
from sdy.ir.replacement import create_for
from sdy.passes.base import Pass
from sdy.passes.gspmd.frontend_attributes import read_frontend_attribute
from sdy.passes.gspmd.hlo_shardings import read_unspecified_dims
from sdy.passes.gspmd.xla_names import (
    ALLOWED_DIRECTION,
    BARRIER_TARGET,
    CUSTOM_CALL,
    GROUP_ID,
    GROUP_TARGET,
    SHARDING_TARGET,
    target_of,
)

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ImportCopies", "ImportSdyCustomCalls", "constraint_sharding"]

_TARGETS = frozenset({SHARDING_TARGET, GROUP_TARGET, BARRIER_TARGET})


@dataclass(frozen=True, slots=True)
class ImportSdyCustomCalls(Pass):
    """Turns custom calls into ops of the sdy dialect.

    `@Sharding` becomes a constraint, open in its `unspecified_dims`; `@xla.sdy.ShardingGroup` a
    sharding group and `@xla.sdy.PropagationBarrier` a propagation barrier, with what their
    frontend attributes say.
    """

    name: ClassVar[str] = "xla-sdy-import-sdy-custom-calls"

    def run(self, module: IndexedModule) -> None:
        """Replace the calls in place."""
        calls = [(op, target_of(op)) for op in module.ops(CUSTOM_CALL)]
        known = [(op, target) for op, target in calls if target in _TARGETS]
        for op, target in known:
            if target == SHARDING_TARGET:
                _import_constraint(op, module.codec)
            elif target == GROUP_TARGET:
                _import_group(op)
            else:
                _import_barrier(op)
        if known:
            module.ops_changed()


@dataclass(frozen=True, slots=True)
class ImportCopies(Pass):
    """Turns every `mhlo.copy` with a sharding into a reshard to it."""

    name: ClassVar[str] = "sdy-import-copies"

    def run(self, module: IndexedModule) -> None:
        """Replace the copies in place."""
        copies = [op for op in module.ops(MHLO_COPY) if SHARDING in op.attributes]
        for op in copies:
            sharding = constraint_sharding(op, module.codec)
            _replace(op, RESHARD, {"sharding": module.codec.attribute(sharding)})
        if copies:
            module.ops_changed()


def constraint_sharding(op: ir.Operation, codec: AttributeCodec) -> TensorSharding:
    """Return the sharding of a custom call's only result, open in its `unspecified_dims`.

    Raises:
      Error: at the op, where it has none.

    """
    if SHARDING not in op.attributes or len(op.results) != 1:
        raise op_error(op, "expected a custom call with one result and a sharding")
    (sharding,) = codec.shardings(op.attributes[SHARDING])
    unspecified = read_unspecified_dims(op)
    if not unspecified:
        return sharding
    dimensions = tuple(
        dimension.opened() if i in unspecified else dimension
        for i, dimension in enumerate(sharding.dimensions)
    )
    return replace(sharding, dimensions=dimensions)


def _import_constraint(op: ir.Operation, codec: AttributeCodec) -> None:
    sharding = constraint_sharding(op, codec)
    if isinstance(op.results[0].type, ir.ShapedType):
        _replace(op, CONSTRAINT, {"sharding": codec.attribute(sharding)})
    else:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def _import_group(op: ir.Operation) -> None:
    group = read_frontend_attribute(op, GROUP_ID, ir.IntegerAttr)
    if group is None:
        raise op_error(op, "expected a custom call with a sharding group id")
    if any(next(iter(result.uses), None) is not None for result in op.results):
        raise op_error(op, f"the result of a custom call @{GROUP_TARGET} cannot be used")
    ir.Operation.create(
        GROUP,
        operands=[op.operands[0]],
        attributes={"group_id": group},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    op.erase()


def _import_barrier(op: ir.Operation) -> None:
    direction = read_frontend_attribute(op, ALLOWED_DIRECTION, ir.IntegerAttr)
    if direction is None:
        raise op_error(op, "expected a custom call with an allowed direction")
    _replace(op, BARRIER, {"allowed_direction": direction})


def _replace(op: ir.Operation, name: str, attributes: dict[str, ir.Attribute]) -> None:
    new = create_for(op, name, attributes, operands=[op.operands[0]])
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()
