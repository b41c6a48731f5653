"""Marks a value of a module with a sharding: once, in the place that its kind of value has.

The idea, its two guards included, is torch_xla's `mark_sharding`: what stands for data carries
the sharding itself, what is computed gains an op, and a second opinion is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.errors import Error
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import ManualAxes, TensorSharding
from sdy.dialect.verifier import verify_not_manual
from sdy.ir import sharding_access
from sdy.ir.attributes import SHARDING
from sdy.ir.binding import AnyValue, bind, ensure_mesh, find_mesh, module_of, resolve
from sdy.ir.counters import count
from sdy.ir.data_flow import (
    DATA_FLOW_EDGE,
    DATA_FLOW_OPS,
    MANUAL_COMPUTATION,
    edge_on,
    owning_op,
)
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.diagnostics import errors_as_exceptions, op_error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import CONSTRAINT, FUNCTION
from sdy.ir.types import rank
from sdy.ir.value_sharding import function_result_sharding, sharding_of
from sdy.ir.values import FunctionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.partition_spec import Entry
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = ["clear_value", "is_free_to_mark", "mark_value", "refusal"]


# Ops whose own sharding is tied to the rest of what they say.
_TIED = (sharding_access.SHARDING_FIELDS.keys() | {MANUAL_COMPUTATION}) - {
    CONSTRAINT,
    DATA_FLOW_EDGE,
}


def mark_value(value: AnyValue, mesh: Mesh | str | None, spec: Sequence[Entry]) -> None:
    """Mark a value of a module; see `sdy.mark_sharding`."""
    place = _place(value)
    with (
        place.owner.context,
        ir.Location.unknown(),
        errors_as_exceptions(place.owner.context),
    ):
        module = module_of(place.owner)
        bare = TensorSharding.from_partition_spec(
            find_mesh(module, mesh), spec, rank=_rank(place.value.type)
        )
        sharding = bind(bare, module, place.value.type)
        _check_axes_are_free(sharding, place.owner)
        codec = IndexedModule(module).codec
        known = place.read(codec)
        if known is not None and _says_the_same(known, sharding):
            count("mark_sharding.unchanged")
            return
        if known is not None and not is_free_to_mark(known):
            count("mark_sharding.refused")
            raise op_error(place.owner, refusal(place.name(), known, sharding))
        ensure_mesh(module, sharding.bound_mesh)
        place.mark(sharding, codec)


def clear_value(value: AnyValue) -> None:
    """Take the sharding of a value of a module away; see `sdy.clear_sharding`."""
    place = _place(value)
    with place.owner.context, ir.Location.unknown():
        codec = IndexedModule(module_of(place.owner)).codec
        cleared = place.clear(codec)
    count(f"clear_sharding.{'cleared' if cleared else 'unchanged'}")


def is_free_to_mark(sharding: TensorSharding) -> bool:
    """Return whether a sharding gives way to a mark: it is replicated, or says nothing."""
    is_on_one_device = isinstance(sharding.mesh, Mesh) and sharding.mesh.is_maximal
    return sharding.is_fully_replicated and not sharding.unreduced and not is_on_one_device


def refusal(name: str, known: object, wanted: object) -> str:
    """Return the message for a second mark that is not as the first."""
    return f"{name} is marked {known} and cannot be marked {wanted}: call sdy.clear_sharding first"


def _says_the_same(known: TensorSharding, wanted: TensorSharding) -> bool:
    """Return whether both say the same of the same devices, whatever the meshes are called."""
    if isinstance(known.mesh, str) or not known.mesh.equals(wanted.bound_mesh):
        return False
    return known.bind(wanted.bound_mesh).canonical() == wanted.canonical()


def _check_axes_are_free(sharding: TensorSharding, op: ir.Operation) -> None:
    """Raise an error where a manual computation around `op` has an axis for itself."""
    parent = op.parent
    while parent is not None:
        outer = parent.operation
        if outer.name == MANUAL_COMPUTATION:
            names = sorted(sharding_access.manual_axes(outer))
            verify_not_manual(sharding.axes(), ManualAxes(tuple(names)))
        parent = outer.parent


def _rank(type_: ir.Type) -> int | None:
    return rank(type_) if isinstance(type_, ir.RankedTensorType) else None


def _place(value: AnyValue) -> _Signature | _Intermediate:
    """Return where a value keeps a mark.

    Raises:
      Error: for an argument that is not a function's.

    """
    value = resolve(value)
    if isinstance(value, FunctionResult):
        return _Signature(value, value.function)
    owner = owning_op(value)
    if not isinstance(value, ir.BlockArgument):
        return _Intermediate.at(value)
    if owner.name != FUNCTION:
        raise Error(
            f"an argument inside '{owner.name}' cannot be marked: "
            "mark the operand or the result that it stands for"
        )
    return _Signature(value, owner)


@dataclass(frozen=True, slots=True)
class _Signature:
    """An argument or a result of a function: it carries the mark itself."""

    value: ir.BlockArgument | FunctionResult
    owner: ir.Operation

    def name(self) -> str:
        value = self.value
        return str(value) if isinstance(value, FunctionResult) else str(value.get_name())

    def read(self, codec: AttributeCodec) -> TensorSharding | None:
        if isinstance(self.value, FunctionResult):
            return function_result_sharding(self.owner, self.value.index, codec)
        return sharding_of(self.value, codec)

    def mark(self, sharding: TensorSharding, codec: AttributeCodec) -> None:
        self._set(codec.attribute(sharding))
        is_result = isinstance(self.value, FunctionResult)
        count(f"mark_sharding.{'function_result' if is_result else 'argument'}")

    def clear(self, codec: AttributeCodec) -> bool:
        if self.read(codec) is None:
            return False
        self._set(None)
        return True

    def _set(self, attribute: ir.Attribute | None) -> None:
        if isinstance(self.value, FunctionResult):
            place: tuple[Field, int] = "res_attrs", self.value.index
        else:
            place = "arg_attrs", self.value.arg_number
        sharding_access.set_function_sharding(self.owner, *place, attribute)


@dataclass(frozen=True, slots=True)
class _Intermediate:
    """A result of an op: its mark is a constraint that all who use it read instead.

    Attributes:
      value: the result; of an op on whose result there is a data-flow edge, that of the edge.
      constraint: the constraint that marks it: its only user, or the op itself; None where it
        has no mark.

    """

    value: ir.Value
    constraint: ir.Operation | None

    @staticmethod
    def at(value: ir.Value) -> _Intermediate:
        edge = edge_on(value) if owning_op(value).name in DATA_FLOW_OPS else None
        if edge is not None:
            value = edge.result
        users = [use.owner.operation for use in value.uses]
        for op in (owning_op(value), *(users if len(users) == 1 else ())):
            if op.name == CONSTRAINT:
                return _Intermediate(value, op)
        return _Intermediate(value, None)

    @property
    def owner(self) -> ir.Operation:
        return owning_op(self.value)

    def name(self) -> str:
        return str(self.value.get_name())

    def read(self, codec: AttributeCodec) -> TensorSharding | None:
        marked = self.value if self.constraint is None else self.constraint.result
        return sharding_of(marked, codec)

    def mark(self, sharding: TensorSharding, codec: AttributeCodec) -> None:
        if self.owner.name not in _TIED and sharding_of(self.value, codec) is not None:
            # What gave way to the mark must not contradict it right before the constraint.
            sharding_access.set_sharding_of(self.value, sharding, codec)
        if self.constraint is not None:
            self.constraint.attributes["sharding"] = codec.attribute(sharding)
        else:
            self._constrain(codec.attribute(sharding))
        count("mark_sharding.constraint")

    def _constrain(self, sharding: ir.Attribute) -> None:
        constraint = mlir_sdy.ShardingConstraintOp(
            self.value, sharding, loc=self.owner.location, ip=insertion_point_after(self.value)
        )
        self.value.replace_all_uses_except(constraint.result, constraint.operation)

    def clear(self, codec: AttributeCodec) -> bool:
        follows = self.constraint is not None and self.constraint != self.owner
        if self.constraint is not None and follows:
            self.constraint.result.replace_all_uses_with(self.value)
            self.constraint.erase()
        if not follows and self.owner.name in _TIED:
            raise op_error(
                self.owner,
                f"the sharding of '{self.owner.name}' is tied to what it does and "
                "cannot be cleared",
            )
        return self._clear_own(codec) or follows

    def _clear_own(self, codec: AttributeCodec) -> bool:
        """Take away what the op itself says of its result; return whether it said anything."""
        sharding = sharding_of(self.value, codec)
        if sharding is None or self.owner.name in _TIED:
            return False
        opened = TensorSharding.fully_open(sharding.mesh, sharding.rank)
        if self.owner.name == CONSTRAINT:
            # It is not erased: the caller has a handle to it.
            self.owner.attributes["sharding"] = codec.attribute(opened)
        elif self.owner.name == DATA_FLOW_EDGE:
            del self.owner.attributes["sharding"]
        elif len(self.owner.results) == 1 and SHARDING in self.owner.attributes:
            del self.owner.attributes[SHARDING]
        else:
            sharding_access.set_sharding_of(self.value, opened, codec)
        return sharding != opened
