"""Calls between custom calls that change shapes become manual computations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attribute_removal import remove_attributes, remove_signature_attributes
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import region_terminator
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, SDY_RETURN
from sdy.ir.value_sharding import sharding_of
from sdy.ir.values import operations
from sdy.passes.base import Pass
from sdy.passes.gspmd.called_bodies import CalledBodies
from sdy.passes.gspmd.import_custom_calls import constraint_sharding
from sdy.passes.gspmd.manual_axes_attribute import read_manual_axes
from sdy.passes.gspmd.manual_bodies import ManualInterface, create_manual_computation
from sdy.passes.gspmd.shape_changes import constraint_on, outer_result, producer
from sdy.passes.gspmd.xla_names import (
    CUSTOM_CALL,
    FULL_TO_SHARD,
    MANUAL_AXES,
    SHARD_TO_FULL,
    target_of,
)

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ShardMapImport", "drop_manual_axes"]


@dataclass(frozen=True, slots=True)
class ShardMapImport(Pass):
    """Turns calls between custom calls that change shapes into manual computations.

    JAX lowers `shard_map` for GSPMD to a call between `@SPMDFullToShardShape` and
    `@SPMDShardToFullShape`; `xla-sdy-stablehlo-export-pipeline` makes one of a manual computation.
    The copy or `@Sharding` custom call on the other side of such a custom call says how the value
    is sharded outside. The function that is called becomes the body; one that is called more than
    once is cloned. Results that nothing uses are dropped.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-round-trip-shard-map-import"

    def run(self, module: IndexedModule) -> None:
        """Replace the calls in place."""
        # Bodies that are cloned may have such calls in them.
        while calls := [call for call in module.ops(CALL) if _changes_shape(call)]:
            importer = _Importer(module)
            for call in calls:
                importer.import_call(call)
            module.ops_changed()
        for op in module.ops(CUSTOM_CALL):
            if target_of(op) in (FULL_TO_SHARD, SHARD_TO_FULL):
                raise op_error(
                    op, f"custom call @{target_of(op)}: expected one on each value of a call"
                )
        drop_manual_axes(module)


def drop_manual_axes(module: IndexedModule) -> None:
    """Take what says along which axes values are local away from all of them."""
    remove_attributes((op for _, op in module.in_order), (MANUAL_AXES,))
    remove_signature_attributes(module, (MANUAL_AXES,))


def _changes_shape(call: ir.Operation) -> bool:
    """Return whether the operands or the results of a call are local and have a global form."""
    return any(producer(operand, FULL_TO_SHARD) is not None for operand in call.operands) or any(
        outer_result(result) is not None for result in call.results
    )


@dataclass(frozen=True, slots=True)
class _Output:
    """A result of a call where it is global.

    Attributes:
      value: the result of `end`; the call's own where that is no tensor, such as a token.
      sharding: of the value; without a mesh for what is no tensor.
      end: the `@SPMDShardToFullShape`, if any.

    """

    value: ir.Value
    sharding: TensorSharding
    end: ir.Operation | None


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


class _Importer:
    """Replaces calls."""

    def __init__(self, module: IndexedModule) -> None:
        self._codec = module.codec
        self._bodies = CalledBodies(module)

    def import_call(self, call: ir.Operation) -> None:
        """Replace a call and the custom calls around it by a manual computation."""
        sources = [self._source(call, operand) for operand in call.operands]
        outputs = [self._output(call, result) for result in call.results if _is_used(result)]
        shardings = [sharding for _, sharding in sources], [each.sharding for each in outputs]
        mesh = _common_mesh(call, [*shardings[0], *shardings[1]])
        interface = ManualInterface(
            operands=[value for value, _ in sources],
            result_types=[each.value.type for each in outputs],
            in_shardings=[_on_mesh(call, sharding, mesh) for sharding in shardings[0]],
            out_shardings=[_on_mesh(call, sharding, mesh) for sharding in shardings[1]],
            manual_axes=self._manual_axes(call, outputs, mesh),
        )
        function = self._bodies.take(call)
        op = create_manual_computation(call, function, interface, self._codec)
        function.erase()
        _keep_returned(op, [i for i, result in enumerate(call.results) if _is_used(result)])
        self._move_to_mesh(op, mesh)
        for output, result in zip(outputs, op.results, strict=True):
            output.value.replace_all_uses_with(result)
        _erase_around(call, outputs)

    def _source(self, call: ir.Operation, operand: ir.Value) -> tuple[ir.Value, TensorSharding]:
        """Return the value outside that an operand is, and how it is sharded there."""
        if not isinstance(operand.type, ir.ShapedType):
            return operand, TensorSharding("")
        shape_change = producer(operand, FULL_TO_SHARD)
        if shape_change is None:
            raise op_error(call, f"expected every operand to come from @{FULL_TO_SHARD}")
        value = shape_change.operands[0]
        constraint = constraint_on(value)
        if constraint is not None:
            return constraint.operands[0], constraint_sharding(constraint, self._codec)
        sharding = sharding_of(value, self._codec)
        if sharding is None:
            raise op_error(shape_change, "expected its operand to have a sharding")
        return value, sharding

    def _output(self, call: ir.Operation, result: ir.Value) -> _Output:
        if not isinstance(result.type, ir.ShapedType):
            return _Output(result, TensorSharding(""), None)
        end = outer_result(result)
        if end is None:
            raise op_error(call, f"expected every result to go to @{SHARD_TO_FULL} alone")
        return _Output(end.results[0], constraint_sharding(end, self._codec), end)

    def _manual_axes(
        self, call: ir.Operation, outputs: list[_Output], mesh: Mesh | str
    ) -> tuple[str, ...]:
        """Return the axes along which the body is local and the code around it is not."""
        inside, outside = set[str](), set[str]()
        for operand in call.operands:
            shape_change = producer(operand, FULL_TO_SHARD)
            if shape_change is not None:
                inside |= self._local_axes(shape_change, mesh)
                constraint = constraint_on(shape_change.operands[0])
                outside |= set() if constraint is None else self._local_axes(constraint, mesh)
        for end in [each.end for each in outputs if each.end is not None]:
            outside |= self._local_axes(end, mesh)
            constraint = constraint_on(end.operands[0])
            inside |= set() if constraint is None else self._local_axes(constraint, mesh)
        names = () if isinstance(mesh, str) else mesh.axis_names
        return tuple(name for name in names if name in inside - outside)

    def _local_axes(self, op: ir.Operation, mesh: Mesh | str) -> set[str]:
        """Return the manual axes of an op; all of `mesh` where they are all of the op's mesh."""
        axes = set(read_manual_axes(op.attributes.get(MANUAL_AXES)))
        own = self._codec.shardings(op.attributes[SHARDING])[0].mesh if axes else mesh
        if own == mesh or isinstance(own, str) or isinstance(mesh, str):
            return axes
        return set(mesh.axis_names) if axes == set(own.axis_names) else axes

    def _move_to_mesh(self, op: ir.Operation, mesh: Mesh | str) -> None:
        """Put the shardings of all that is local in the body on the mesh of the computation."""
        for inner in operations(op):
            if MANUAL_AXES in inner.attributes and SHARDING in inner.attributes:
                shardings = self._codec.shardings(inner.attributes[SHARDING])
                moved = tuple(_on_mesh(inner, sharding, mesh) for sharding in shardings)
                inner.attributes[SHARDING] = self._codec.list_attribute(moved)


def _common_mesh(op: ir.Operation, shardings: list[TensorSharding]) -> Mesh | str:
    """Return the mesh of the shardings that have axes; the first where none has any."""
    meshes = list(dict.fromkeys(s.mesh for s in shardings if not s.has_no_axes))
    if len(meshes) > 1:
        raise op_error(op, "its operands and results are sharded on several meshes")
    return next(iter((*meshes, *(s.mesh for s in shardings if s.mesh != ""))), "")


def _on_mesh(op: ir.Operation, sharding: TensorSharding, mesh: Mesh | str) -> TensorSharding:
    if sharding.mesh == mesh:
        return sharding
    if not sharding.has_no_axes:
        raise op_error(op, f"in a manual computation on another mesh: {sharding}")
    return replace(sharding, mesh=mesh)


def _keep_returned(op: ir.Operation, kept: list[int]) -> None:
    """Let the body of a manual computation return some of its values only."""
    terminator = region_terminator(op.regions[0])
    if len(kept) < len(terminator.operands):
        ir.Operation.create(
            SDY_RETURN,
            operands=[terminator.operands[i] for i in kept],
            loc=terminator.location,
            ip=ir.InsertionPoint(terminator),
        )
        terminator.erase()


def _erase_around(call: ir.Operation, outputs: list[_Output]) -> None:
    """Erase a call and what is left without a use of the ops before and behind it."""
    operands = list(dict.fromkeys(call.operands))
    for end in [output.end for output in outputs if output.end is not None]:
        constraint = constraint_on(end.operands[0])
        end.erase()
        if constraint is not None:
            constraint.erase()
    call.erase()
    for operand in operands:
        shape_change = producer(operand, FULL_TO_SHARD)
        if shape_change is None or _is_used(operand):
            continue
        constraint = constraint_on(shape_change.operands[0])
        shape_change.erase()
        if constraint is not None and not _is_used(constraint.results[0]):
            constraint.erase()
