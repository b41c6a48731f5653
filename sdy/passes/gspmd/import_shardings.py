"""XLA's shardings become those of the sdy dialect, on meshes that are found for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.dialect.hlo_metadata import ShardGroupKind
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh_finding import FoundMeshes, find_meshes
from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import FUNCTION, GROUP, MESH
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.symbols import SYMBOL, symbol_name
from sdy.ir.types import rank
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.manual_axes_attribute import manual_axes_attribute
from sdy.passes.gspmd.xla_names import HLO_SHARDING, MANUAL_AXES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.named_form import NamedForm
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["ImportShardings"]

_NUM_PARTITIONS = "mhlo.num_partitions"


@dataclass(frozen=True, slots=True)
class ImportShardings(Pass):
    """Turns the `mhlo.sharding` attributes of XLA's SPMD partitioner into shardings.

    One mesh is made for all of them if they have factors in common, else several; meshes that the
    module has are used first. What is to be sharded as other tensors (`shard_as`) is in a sharding
    group with them. Where a tensor is local along some axes, as in a manual
    computation, the sharding says nothing of these, and `xla.sdy.manual_axes` lists them.
    """

    name: ClassVar[str] = "xla-sdy-import-shardings"

    allow_propagation_to_args: bool = option(
        False, "Whether the dimensions of arguments of @main are open.", in_shardy=False
    )
    allow_propagation_to_results: bool = option(
        False, "Whether the dimensions of results of @main are open.", in_shardy=False
    )

    def run(self, module: IndexedModule) -> None:
        """Find the meshes, then write the shardings."""
        parsed = _parse_all(module)
        if not parsed:
            return
        found = _find_meshes(module, parsed.values())
        importer = _Importer(module, parsed, found)
        for function in module.ops(FUNCTION):
            is_main = symbol_name(function) == "main"
            importer.import_signature(
                function,
                open_args=is_main and self.allow_propagation_to_args,
                open_results=is_main and self.allow_propagation_to_results,
            )
        for op in [op for _, op in module.in_order if HLO_SHARDING in op.attributes]:
            _import_groups(op, parsed[op.attributes[HLO_SHARDING]].leaves())
            importer.import_op(op)
        module.ops_changed()


def _parse_all(module: IndexedModule) -> dict[ir.Attribute, HloSharding]:
    """Return what each distinct `mhlo.sharding` of the module says."""
    parsed: dict[ir.Attribute, HloSharding] = {}
    for op, attribute in _sharding_attributes(module):
        if attribute in parsed:
            continue
        if not isinstance(attribute, ir.StringAttr):
            raise op_error(op, f"in {HLO_SHARDING}: expected a text, got {attribute}")
        try:
            parsed[attribute] = HloSharding.parse(ir.StringAttr(attribute).value)
        except Error as error:
            raise op_error(op, f"in {HLO_SHARDING}: {error}") from None
    return parsed


def _sharding_attributes(module: IndexedModule) -> Iterator[tuple[ir.Operation, ir.Attribute]]:
    for name, op in module.in_order:
        if name == FUNCTION:
            for entry in (*signature_entries(op, "arg_attrs"), *signature_entries(op, "res_attrs")):
                if HLO_SHARDING in entry:
                    yield op, entry[HLO_SHARDING]
        attribute = op.attributes.get(HLO_SHARDING)
        if attribute is not None:
            yield op, attribute


def _find_meshes(module: IndexedModule, shardings: Collection[HloSharding]) -> FoundMeshes:
    """Find meshes for all shardings, and add those that are new to the module."""
    known = module.meshes
    operations = module.module.body.operations
    symbols = [symbol_name(op.operation) for op in operations if SYMBOL in op.attributes]
    partitions = module.operation.attributes.get(_NUM_PARTITIONS)
    num_devices = None if partitions is None else ir.IntegerAttr(partitions).value
    try:
        found = find_meshes(shardings, tuple(known.values()), num_devices, symbols)
    except Error as error:
        raise op_error(module.operation, str(error)) from None
    _add_meshes(module, [mesh for mesh in found.meshes if mesh.name not in known])
    return found


def _add_meshes(module: IndexedModule, meshes: Sequence[Mesh]) -> None:
    place = ir.InsertionPoint.at_block_begin(module.module.body)
    for mesh in meshes:
        try:
            attribute = ir.Attribute.parse(f"#sdy.mesh<{mesh.body}>", module.context)
        except ir.MLIRError:  # Such as one of device -1, which XLA's text may name.
            raise op_error(module.operation, f"the devices of {mesh} are no mesh") from None
        attributes = {
            SYMBOL: ir.StringAttr.get(mesh.name or "", module.context),
            "mesh": attribute,
        }
        ir.Operation.create(MESH, attributes=attributes, loc=module.operation.location, ip=place)
    if meshes:
        module.ops_changed()
        module.meshes_changed()


def _import_groups(op: ir.Operation, leaves: Sequence[HloSharding]) -> None:
    """Put results that are to be sharded as others are into sharding groups."""
    for result, leaf in zip(op.results, leaves, strict=False):
        if leaf.shard_group is not None and leaf.shard_group.kind is ShardGroupKind.AS:
            ir.Operation.create(
                GROUP,
                operands=[result],
                attributes={"group_id": _group_id(leaf.shard_group.number, op.context)},
                loc=op.location,
                ip=ir.InsertionPoint.after(op),
            )


def _group_id(number: int, context: ir.Context) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), number)


class _Importer:
    """Writes `sdy.sharding` where `mhlo.sharding` was."""

    def __init__(
        self,
        module: IndexedModule,
        parsed: dict[ir.Attribute, HloSharding],
        found: FoundMeshes,
    ) -> None:
        self._codec = module.codec
        self._context = module.context
        self._parsed = parsed
        self._found = found
        self._memo: dict[tuple[HloSharding, int, frozenset[int]], NamedForm] = {}

    def import_signature(
        self, function: ir.Operation, *, open_args: bool, open_results: bool
    ) -> None:
        """Import the shardings of a function's arguments and results."""
        kind = signature(function)
        fields: tuple[tuple[Field, Sequence[ir.Type], bool], ...] = (
            ("arg_attrs", kind.inputs, open_args),
            ("res_attrs", kind.results, open_results),
        )
        for field, types, is_open in fields:
            entries = signature_entries(function, field)
            if any(HLO_SHARDING in entry for entry in entries):
                changed = [
                    self._entry(function, entry, rank(value_type), is_open=is_open)
                    for entry, value_type in zip(entries, types, strict=True)
                ]
                set_signature_entries(function, field, changed)

    def _entry(
        self, function: ir.Operation, entry: ir.DictAttr, rank_: int, *, is_open: bool
    ) -> ir.DictAttr:
        named = named_attributes(entry)
        attribute = named.pop(HLO_SHARDING, None)
        if attribute is not None:
            opened = frozenset(range(rank_)) if is_open else frozenset()
            form = self._form(function, self._parsed[attribute], rank_, opened)
            named[SHARDING] = self._codec.attribute(form.sharding)
            if form.manual:
                named[MANUAL_AXES] = self._manual_axes(function, form)
        return ir.DictAttr.get(named, context=self._context)

    def import_op(self, op: ir.Operation) -> None:
        """Import the shardings of an op's results."""
        leaves = self._parsed[op.attributes[HLO_SHARDING]].leaves()
        # An op without results says on which device it runs.
        ranks = [rank(result.type) for result in op.results] or [0]
        if len(leaves) != len(ranks):
            raise op_error(op, f"{len(leaves)} shardings for {len(ranks)} results")
        forms = [
            self._form(op, leaf, rank_, frozenset())
            for leaf, rank_ in zip(leaves, ranks, strict=True)
        ]
        shardings = tuple(form.sharding for form in forms)
        op.attributes[SHARDING] = self._codec.list_attribute(shardings)
        manual = {self._manual_axes(op, form) for form in forms if form.manual}
        if len(manual) > 1:
            raise op_error(op, "its results are local along different axes")
        if manual:
            op.attributes[MANUAL_AXES] = manual.pop()
        del op.attributes[HLO_SHARDING]

    def _manual_axes(self, op: ir.Operation, form: NamedForm) -> ir.Attribute:
        parts = [axis for axis in form.manual if axis.sub_axis is not None]
        if parts:
            raise op_error(op, f"local along a part of an axis: {parts[0]} of {form.mesh}")
        return manual_axes_attribute([axis.name for axis in form.manual], self._context)

    def _form(
        self, op: ir.Operation, sharding: HloSharding, rank_: int, opened: frozenset[int]
    ) -> NamedForm:
        key = (sharding, rank_, opened)
        known = self._memo.get(key)
        if known is None:
            try:
                known = self._found.named(sharding, rank_, opened)
            except Error as error:
                raise op_error(op, str(error)) from None
            self._memo[key] = known
        return known
