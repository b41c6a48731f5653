"""Frontend attributes become the attributes of the sdy dialect that were kept in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING, SHARDING_RULE
from sdy.ir.diagnostics import op_error
from sdy.ir.main_function import function_named_main
from sdy.ir.op_names import CONSTRAINT, FUNCTION, MESH, RETURN
from sdy.ir.replacement import create_for
from sdy.ir.sharding_access import set_function_sharding
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.symbols import SYMBOL
from sdy.ir.values import operations, signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.frontend_attributes import (
    parse_frontend_attribute,
    read_frontend_attribute,
    remove_frontend_attributes,
    without_frontend_attributes,
)
from sdy.passes.gspmd.import_shardings import ImportShardings
from sdy.passes.gspmd.round_trip.named_interfaces import read_named_interfaces
from sdy.passes.gspmd.shard_map_import import drop_manual_axes
from sdy.passes.gspmd.xla_names import (
    FUNCTION_RESULT_TARGET,
    HLO_SHARDING,
    MESHES,
    ROUND_TRIP_SHARDING,
    ROUND_TRIP_SHARDING_RULE,
    SHARDING_TARGET,
    TUPLE_ARGUMENTS,
    TUPLE_RESULTS,
    is_python_callback,
    target_of,
)

if TYPE_CHECKING:
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["RoundTripImportShardyAttrs"]

# XLA copies the frontend attributes of operands to ops that it makes: on all others they may be
# those of another tensor.
_KEEP_SHARDING = frozenset({"stablehlo.send", "stablehlo.recv", "stablehlo.after_all"})
# These may have an HloSharding and no frontend attribute.
_KEEP_HLO_SHARDING = frozenset({"stablehlo.infeed", "stablehlo.outfeed"})
_COMBINE = "X64Combine"


@dataclass(frozen=True, slots=True)
class RoundTripImportShardyAttrs(Pass):
    """Reads meshes, shardings and sharding rules back from frontend attributes.

    Of ops, only custom calls that are known, sends and receives keep their sharding. HloShardings
    that were written beside them go. What went through a custom call `@xla.sdy.FuncResultSharding`
    is returned itself, and the function's result has the sharding; where it is used elsewhere too,
    after the function was inlined, an open constraint says it.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-import-shardy-attrs"

    enable_hlo_sharding_v3: bool = option(
        False, "Whether shardings are read from HloShardings, which name meshes and axes."
    )

    def run(self, module: IndexedModule) -> None:
        """Read the attributes in place."""
        _import_meshes(module)
        _import_tuple_shardings(module)
        if self.enable_hlo_sharding_v3:
            _drop_unnamed_results(module)
            ImportShardings().run(module)
            read_named_interfaces(module)
            drop_manual_axes(module)
        for function in module.ops(FUNCTION):
            if not self.enable_hlo_sharding_v3:
                _import_arguments(function)
            _drop_hlo_shardings(function, "res_attrs")
            for op in operations(function):
                _import_op(op, from_frontend=not self.enable_hlo_sharding_v3)
        module.ops_changed()
        for op in [op for _, op in module.in_order if target_of(op) == FUNCTION_RESULT_TARGET]:
            _import_result(op, module.codec)
        module.ops_changed()


def _import_meshes(module: IndexedModule) -> None:
    meshes = read_frontend_attribute(module.operation, MESHES, ir.DictAttr)
    if meshes is None:
        return
    place = ir.InsertionPoint.at_block_begin(module.module.body)
    for name, mesh in named_attributes(meshes).items():
        try:
            mlir_sdy.MeshAttr(mesh)
        except ValueError:
            message = f"'{MESHES}': '{name}' is no mesh: {mesh}"
            raise op_error(module.operation, message) from None
        attributes = {SYMBOL: ir.StringAttr.get(name, module.context), "mesh": mesh}
        ir.Operation.create(MESH, attributes=attributes, loc=module.operation.location, ip=place)
    remove_frontend_attributes(module.operation, MESHES)
    module.ops_changed()
    module.meshes_changed()


def _import_tuple_shardings(module: IndexedModule) -> None:
    """Read what the module says of the arguments and results of @main, where XLA made tuples."""
    main = function_named_main(module.ops(FUNCTION))
    if main is None:
        return
    kind = signature(main)
    sides: tuple[tuple[str, Field, int], ...] = (
        (TUPLE_ARGUMENTS, "arg_attrs", len(kind.inputs)),
        (TUPLE_RESULTS, "res_attrs", len(kind.results)),
    )
    for name, field, count in sides:
        attribute = read_frontend_attribute(
            module.operation, name, mlir_sdy.TensorShardingPerValueAttr
        )
        if attribute is None:
            continue
        shardings = attribute.shardings
        if len(shardings) != count:
            raise op_error(main, f"'{name}' has {len(shardings)} shardings for {count} values")
        for index, sharding in enumerate(shardings):
            set_function_sharding(main, field, index, sharding)
        remove_frontend_attributes(module.operation, name)


def _drop_unnamed_results(module: IndexedModule) -> None:
    """Drop what HLO says of results of which nothing was said beside others, from the functions."""
    for function in module.ops(FUNCTION):
        entries = signature_entries(function, "res_attrs")
        if any(HLO_SHARDING in entry for entry in entries):
            set_signature_entries(function, "res_attrs", [_named_only(each) for each in entries])


def _named_only(entry: ir.DictAttr) -> ir.DictAttr:
    named = named_attributes(entry)
    if HLO_SHARDING in named and ir.StringAttr(named[HLO_SHARDING]).value == "{replicated}":
        del named[HLO_SHARDING]
    return ir.DictAttr.get(named, context=entry.context)


def _import_arguments(function: ir.Operation) -> None:
    if "arg_attrs" not in function.attributes:
        return
    entries = signature_entries(function, "arg_attrs")
    set_signature_entries(function, "arg_attrs", [_argument(function, each) for each in entries])


def _argument(function: ir.Operation, entry: ir.DictAttr) -> ir.DictAttr:
    named = named_attributes(entry)
    named.pop(HLO_SHARDING, None)
    sharding = parse_frontend_attribute(
        function, named, ROUND_TRIP_SHARDING, mlir_sdy.TensorShardingAttr
    )
    if sharding is not None:
        named = without_frontend_attributes(named, [ROUND_TRIP_SHARDING], function.context)
        named[SHARDING] = sharding
    return ir.DictAttr.get(named, context=function.context)


def _drop_hlo_shardings(function: ir.Operation, field: Field) -> None:
    entries = signature_entries(function, field)
    if any(HLO_SHARDING in entry for entry in entries):
        kept = [
            ir.DictAttr.get(
                {n: a for n, a in named_attributes(entry).items() if n != HLO_SHARDING},
                context=function.context,
            )
            for entry in entries
        ]
        set_signature_entries(function, field, kept)


def _import_op(op: ir.Operation, *, from_frontend: bool) -> None:
    attributes = op.attributes
    rule = read_frontend_attribute(op, ROUND_TRIP_SHARDING_RULE, mlir_sdy.OpShardingRuleAttr)
    if rule is not None:
        attributes[SHARDING_RULE] = rule
        remove_frontend_attributes(op, ROUND_TRIP_SHARDING_RULE)
    keeps = op.name in _KEEP_SHARDING or _is_known_call(op)
    if not from_frontend:
        if SHARDING in attributes and not keeps:
            del attributes[SHARDING]
        return
    if HLO_SHARDING in attributes and op.name not in _KEEP_HLO_SHARDING:
        del attributes[HLO_SHARDING]
    if target_of(op) == FUNCTION_RESULT_TARGET:
        return
    sharding = read_frontend_attribute(op, ROUND_TRIP_SHARDING, mlir_sdy.TensorShardingPerValueAttr)
    if sharding is not None:
        if keeps:
            if len(op.results):  # An op without results may have one that says where it runs.
                _check_count(op, sharding, len(op.results))
            attributes[SHARDING] = sharding
        remove_frontend_attributes(op, ROUND_TRIP_SHARDING)


def _check_count(
    op: ir.Operation, per_value: mlir_sdy.TensorShardingPerValueAttr, count: int
) -> None:
    """Raise an error at the op where there are not as many shardings as values."""
    found = len(per_value.shardings)
    if found != count:
        raise op_error(op, f"'{ROUND_TRIP_SHARDING}' has {found} shardings for {count} values")


def _is_known_call(op: ir.Operation) -> bool:
    return target_of(op) in (SHARDING_TARGET, _COMBINE) or is_python_callback(op)


def _import_result(op: ir.Operation, codec: AttributeCodec) -> None:
    """Give the sharding that a value is returned with to the function, and drop the custom call."""
    per_value = read_frontend_attribute(
        op, ROUND_TRIP_SHARDING, mlir_sdy.TensorShardingPerValueAttr
    )
    if per_value is None:
        raise op_error(op, f"expected custom call @{FUNCTION_RESULT_TARGET} to have a sharding")
    _check_count(op, per_value, 1)
    (sharding,) = codec.shardings(per_value)
    returned = op.results[0]
    combine = _combine_of(op)
    if combine is not None:
        # 64-bit numbers were split in two on the way.
        combine.attributes[SHARDING] = per_value
        returned = combine.results[0]
    elif next(iter(returned.uses), None) is None:
        # A tensor without elements was replaced by a constant, here as in the return.
        returned = op.operands[0]
    users = [(use.owner.operation, use.operand_number) for use in returned.uses]
    for user, number in users:
        if user.name == RETURN:
            function = user.parent.operation
            set_function_sharding(function, "res_attrs", number, codec.attribute(sharding))
    is_used = any(user.name != RETURN and user != op for user, _ in users)
    if is_used and combine is None:
        attributes = {"sharding": codec.attribute(sharding.opened())}
        new = create_for(op, CONSTRAINT, attributes)
        op.results[0].replace_all_uses_with(new.results[0])
    else:
        for old, operand in zip(op.results, op.operands, strict=True):
            old.replace_all_uses_with(operand)
    op.erase()


def _combine_of(op: ir.Operation) -> ir.Operation | None:
    """Return the op that makes one value of two 32-bit halves which both came through `op`."""
    if len(op.results) != 2:
        return None
    users = [[use.owner.operation for use in result.uses] for result in op.results]
    if users[0] != users[1] or len(users[0]) != 1:
        return None
    return users[0][0] if target_of(users[0][0]) == _COMBINE else None
