"""XLA's shardings become those of the sdy dialect, on meshes that are found for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.errors import Error, check_type
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh_finding import FoundMeshes, find_meshes
from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import CONSTRAINT, FUNCTION, MESH, MHLO_COPY, RESHARD
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.symbols import SYMBOL, symbol_name
from sdy.ir.types import rank
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING, read_unspecified_dims
from sdy.passes.transaction import restored_on_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.ir.signature_attributes import Field

__all__ = ["FromGspmd", "from_gspmd"]

_CUSTOM_CALL = "stablehlo.custom_call"
_NUM_PARTITIONS = "mhlo.num_partitions"
_CONSTRAINT_TARGETS = frozenset({"Sharding"})
_MANUAL_TARGETS = frozenset({"SPMDFullToShardShape", "SPMDShardToFullShape"})


def from_gspmd(module: ir.Module) -> ir.Module:
    """Turn XLA's shardings of a module into those of the sdy dialect, in place, and return it.

    Raises:
      Error: at an op that cannot be imported; the module is as it was.

    """
    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    with restored_on_error(module):
        FromGspmd().run(IndexedModule(module))
    return module


@dataclass(frozen=True, slots=True)
class FromGspmd(Pass):
    """Turns the `mhlo.sharding` attributes of XLA's SPMD partitioner into shardings.

    One mesh is made for all of them if they have factors in common, else several; meshes that the
    module has are used first. A `@Sharding` custom call becomes a constraint, open in its
    `unspecified_dims`, and a copy with a sharding becomes a reshard. Manual computations, which
    are pairs of custom calls there, are refused.
    """

    name: ClassVar[str] = "sdy-from-gspmd"

    allow_propagation_to_args: bool = option(
        False, "Whether the dimensions of arguments of @main are open."
    )
    allow_propagation_to_results: bool = option(
        False, "Whether the dimensions of results of @main are open."
    )

    def run(self, module: IndexedModule) -> None:
        """Find the meshes, then write the shardings."""
        parsed = _parse_all(module)
        if not parsed:
            return
        with module.context, ir.Location.unknown():
            found = _find_meshes(module, parsed.values())
            importer = _Importer(module, parsed, found)
            for function in module.ops(FUNCTION):
                is_main = symbol_name(function) == "main"
                importer.import_signature(
                    function,
                    open_args=is_main and self.allow_propagation_to_args,
                    open_results=is_main and self.allow_propagation_to_results,
                )
            for _, op in module.in_order:
                if HLO_SHARDING in op.attributes:
                    importer.import_op(op)
        module.ops_changed()


def _parse_all(module: IndexedModule) -> dict[ir.Attribute, HloSharding]:
    """Return what each distinct `mhlo.sharding` of the module says."""
    parsed: dict[ir.Attribute, HloSharding] = {}
    for op, attribute in _sharding_attributes(module):
        if attribute in parsed:
            continue
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
        attributes = {
            SYMBOL: ir.StringAttr.get(mesh.name or ""),
            "mesh": ir.Attribute.parse(f"#sdy.mesh<{mesh.body}>"),
        }
        ir.Operation.create(MESH, attributes=attributes, ip=place)
    if meshes:
        module.ops_changed(MESH)
        module.meshes_changed()


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
        self._memo: dict[tuple[HloSharding, int, frozenset[int]], ir.Attribute] = {}

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
            named[SHARDING] = self._sharding(function, self._parsed[attribute], rank_, opened)
        return ir.DictAttr.get(named)

    def import_op(self, op: ir.Operation) -> None:
        """Import the shardings of an op's results; a constraint or a copy gives way to ours."""
        leaves = self._parsed[op.attributes[HLO_SHARDING]].leaves()
        target = _target(op)
        if target in _MANUAL_TARGETS:
            raise op_error(op, f"custom call @{target}: manual computations cannot be imported")
        if target in _CONSTRAINT_TARGETS:
            self._replace(op, CONSTRAINT, leaves[0], _unspecified_dims(op))
        elif op.name == MHLO_COPY:
            self._replace(op, RESHARD, leaves[0], frozenset())
        else:
            self._set(op, leaves)

    def _replace(
        self, op: ir.Operation, name: str, sharding: HloSharding, opened: frozenset[int]
    ) -> None:
        value = op.operands[0]
        attribute = self._sharding(op, sharding, rank(op.results[0].type), opened)
        new = ir.Operation.create(
            name,
            results=[op.results[0].type],
            operands=[value],
            attributes={"sharding": attribute},
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        op.results[0].replace_all_uses_with(new.results[0])
        op.erase()

    def _set(self, op: ir.Operation, leaves: Sequence[HloSharding]) -> None:
        # An op without results says on which device it runs.
        ranks = [rank(result.type) for result in op.results] or [0]
        if len(leaves) != len(ranks):
            raise op_error(op, f"{len(leaves)} shardings for {len(ranks)} results")
        shardings = tuple(
            self._codec.sharding(self._sharding(op, leaf, rank_, frozenset()))
            for leaf, rank_ in zip(leaves, ranks, strict=True)
        )
        op.attributes[SHARDING] = self._codec.list_attribute(shardings)
        del op.attributes[HLO_SHARDING]

    def _sharding(
        self, op: ir.Operation, sharding: HloSharding, rank_: int, opened: frozenset[int]
    ) -> ir.Attribute:
        key = (sharding, rank_, opened)
        known = self._memo.get(key)
        if known is not None:
            return known
        try:
            named = self._found.named(sharding, rank_, opened)
        except Error as error:
            raise op_error(op, str(error)) from None
        if named.manual:
            raise op_error(op, f"{sharding}: manual computations cannot be imported")
        self._memo[key] = self._codec.attribute(named.sharding)
        return self._memo[key]


def _target(op: ir.Operation) -> str | None:
    if op.name != _CUSTOM_CALL:
        return None
    target: str = ir.StringAttr(op.attributes["call_target_name"]).value
    return target


def _unspecified_dims(op: ir.Operation) -> frozenset[int]:
    config = op.attributes.get("backend_config")
    is_text = isinstance(config, ir.StringAttr)
    return read_unspecified_dims(ir.StringAttr(config).value) if is_text else frozenset()
