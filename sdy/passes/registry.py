"""The passes of this package by flag; the module of one is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.passes.base import Pass

__all__ = ["UnknownPassError", "get_pass", "pass_names"]

_PASSES = {
    "canonicalize": "sdy.passes.canonicalize.canonicalize:Canonicalize",
    "symbol-dce": "sdy.passes.symbol_dce:SymbolDce",
    "sdy-save-module": "sdy.passes.save_module:SaveModule",
    # Import.
    "sdy-lift-inlined-meshes": "sdy.passes.import_pipeline.lift_inlined_meshes:LiftInlinedMeshes",
    "sdy-remove-size-one-axes": "sdy.passes.import_pipeline.remove_size_one_axes:RemoveSizeOneAxes",
    "sdy-constant-or-scalar-splitter": (
        "sdy.passes.import_pipeline.constant_or_scalar_splitter:ConstantOrScalarSplitter"
    ),
    "sdy-add-data-flow-edges": "sdy.passes.import_pipeline.add_data_flow_edges:AddDataFlowEdges",
    "sdy-apply-sharding-constraints": (
        "sdy.passes.import_pipeline.apply_sharding_constraints:ApplyShardingConstraints"
    ),
    "sdy-flatten-call-graph": "sdy.passes.import_pipeline.flatten_call_graph:FlattenCallGraph",
    "sdy-import-func-calls": "sdy.passes.import_pipeline.import_func_calls:ImportFuncCalls",
    "sdy-propagate-sharding-from-func-to-call": (
        "sdy.passes.import_pipeline.propagate_sharding_from_func_to_call:"
        "PropagateShardingFromFuncToCall"
    ),
    "sdy-pre-order-funcs": "sdy.passes.import_pipeline.pre_order_funcs:PreOrderFuncs",
    "sdy-sharding-group-import": (
        "sdy.passes.import_pipeline.sharding_group_import:ShardingGroupImport"
    ),
    "sdy-manual-axes-cleanup": ("sdy.passes.import_pipeline.manual_axes_cleanup:ManualAxesCleanup"),
    "sdy-inline-meshes": "sdy.passes.import_pipeline.inline_meshes:InlineMeshes",
    "sdy-add-func-data-flow-edges": (
        "sdy.passes.import_pipeline.add_func_data_flow_edges:AddFuncDataFlowEdges"
    ),
    "sdy-explicit-gather-scatter-batching": (
        "sdy.passes.import_pipeline.explicit_gather_scatter_batching:ExplicitGatherScatterBatching"
    ),
    "sdy-import-pipeline": "sdy.passes.import_pipeline.import_pipeline:ImportPipeline",
    # Propagation.
    "sdy-populate-op-sharding-rules": "sdy.passes.propagation.passes:PopulateOpShardingRules",
    "sdy-basic-propagate": "sdy.passes.propagation.passes:BasicPropagate",
    "sdy-aggressive-propagate": "sdy.passes.propagation.passes:AggressivePropagate",
    "sdy-op-priority-propagate": "sdy.passes.propagation.passes:OpPriorityPropagate",
    "sdy-user-priority-propagate": "sdy.passes.propagation.passes:UserPriorityPropagate",
    "sdy-propagation-pipeline": "sdy.passes.propagation_pipeline:PropagationPipeline",
    # Export.
    "sdy-constant-or-scalar-merger": (
        "sdy.passes.export_pipeline.constant_or_scalar_merger:ConstantOrScalarMerger"
    ),
    "sdy-sink-data-flow-edges": "sdy.passes.export_pipeline.sink_data_flow_edges:SinkDataFlowEdges",
    "sdy-sharding-constraint-to-reshard": (
        "sdy.passes.export_pipeline.sharding_constraint_to_reshard:ShardingConstraintToReshard"
    ),
    "sdy-insert-explicit-reshards": (
        "sdy.passes.export_pipeline.insert_explicit_reshards:InsertExplicitReshards"
    ),
    "sdy-reshard-to-collectives": (
        "sdy.passes.export_pipeline.reshard_to_collectives:ReshardToCollectives"
    ),
    "sdy-remove-all-gather-reduce-scatter-for-cmv1": (
        "sdy.passes.export_pipeline.remove_all_gather_reduce_scatter_for_cmv1:"
        "RemoveAllGatherReduceScatterForCmv1"
    ),
    "sdy-close-shardings": "sdy.passes.export_pipeline.close_shardings:CloseShardings",
    "sdy-drop-sharding-rules": "sdy.passes.export_pipeline.drop_sharding_rules:DropShardingRules",
    "sdy-export-named-computations": (
        "sdy.passes.export_pipeline.export_named_computations:ExportNamedComputations"
    ),
    "sdy-propagate-to-func-results": (
        "sdy.passes.export_pipeline.propagate_to_func_results:PropagateToFuncResults"
    ),
    "sdy-unflatten-call-graph": (
        "sdy.passes.export_pipeline.unflatten_call_graph:UnflattenCallGraph"
    ),
    "sdy-insert-func-call-reshards": (
        "sdy.passes.export_pipeline.insert_func_call_reshards:InsertFuncCallReshards"
    ),
    "sdy-sink-func-data-flow-edges": (
        "sdy.passes.export_pipeline.sink_func_data_flow_edges:SinkFuncDataFlowEdges"
    ),
    "sdy-remove-sharding-groups": (
        "sdy.passes.export_pipeline.remove_sharding_groups:RemoveShardingGroups"
    ),
    "sdy-drop-sharding-and-mesh": (
        "sdy.passes.export_pipeline.drop_sharding_and_mesh:DropShardingAndMesh"
    ),
    "sdy-remove-propagation-debug-info": (
        "sdy.passes.export_pipeline.remove_propagation_debug_info:RemovePropagationDebugInfo"
    ),
    "sdy-remove-sub-axes-in-input-output-shardings": (
        "sdy.passes.export_pipeline.remove_sub_axes_in_input_output_shardings:"
        "RemoveSubAxesInInputOutputShardings"
    ),
    "sdy-update-non-divisible-input-output-shardings": (
        "sdy.passes.export_pipeline.update_non_divisible_input_output_shardings:"
        "UpdateNonDivisibleInputOutputShardings"
    ),
    "sdy-export-pipeline": "sdy.passes.export_pipeline.export_pipeline:ExportPipeline",
    # GSPMD.
    "sdy-from-gspmd": "sdy.passes.gspmd.from_gspmd:FromGspmd",
    "sdy-to-gspmd": "sdy.passes.gspmd.to_gspmd:ToGspmd",
    "xla-sdy-stablehlo-export-pipeline": (
        "sdy.passes.gspmd.stablehlo_export_pipeline:StablehloExportPipeline"
    ),
    "sdy-capture-loop-invariants": (
        "sdy.passes.gspmd.capture_loop_invariants:CaptureLoopInvariants"
    ),
    "xla-sdy-stablehlo-export-manual-reduction-collectives": (
        "sdy.passes.gspmd.export_reductions:ExportManualReductionCollectives"
    ),
    "xla-sdy-export-ops": "sdy.passes.gspmd.export_ops:ExportOps",
    "xla-sdy-stablehlo-round-trip-shard-map-export": (
        "sdy.passes.gspmd.shard_map_export:ShardMapExport"
    ),
    "xla-sdy-stablehlo-export-shardings": "sdy.passes.gspmd.export_shardings:ExportShardings",
    "xla-sdy-stablehlo-round-trip-export-callback-custom-calls": (
        "sdy.passes.gspmd.export_callbacks:ExportCallbacks"
    ),
    "xla-sdy-stablehlo-import-pipeline": (
        "sdy.passes.gspmd.stablehlo_import_pipeline:StablehloImportPipeline"
    ),
    "sdy-flatten-tuples": "sdy.passes.gspmd.flatten_tuples:FlattenTuples",
    "stablehlo-ext-canonicalize-from-hlo-import": (
        "sdy.passes.gspmd.canonicalize_from_hlo:CanonicalizeFromHloImport"
    ),
    "xla-sdy-import-shardings": "sdy.passes.gspmd.import_shardings:ImportShardings",
    "sdy-outline-local-code": "sdy.passes.gspmd.outline_local_code:OutlineLocalCode",
    "xla-sdy-stablehlo-round-trip-shard-map-import": (
        "sdy.passes.gspmd.shard_map_import:ShardMapImport"
    ),
    "xla-sdy-import-sdy-custom-calls": "sdy.passes.gspmd.import_custom_calls:ImportSdyCustomCalls",
    "sdy-import-copies": "sdy.passes.gspmd.import_custom_calls:ImportCopies",
    "xla-sdy-import-constants": "sdy.passes.gspmd.import_constants:ImportConstants",
    "xla-sdy-open-while-free-vars-sharding": (
        "sdy.passes.gspmd.open_while_free_vars:OpenWhileFreeVarsSharding"
    ),
    # The sdy dialect through HLO.
    "xla-sdy-round-trip-export-pipeline": (
        "sdy.passes.gspmd.round_trip.export_pipeline:RoundTripExportPipeline"
    ),
    "xla-sdy-round-trip-dedup-meshes": (
        "sdy.passes.gspmd.round_trip.dedup_meshes:RoundTripDedupMeshes"
    ),
    "xla-sdy-round-trip-export-ops": "sdy.passes.gspmd.round_trip.export_ops:RoundTripExportOps",
    "xla-sdy-round-trip-shard-map-export": (
        "sdy.passes.gspmd.round_trip.shard_map_export:RoundTripShardMapExport"
    ),
    "xla-sdy-round-trip-export-shardy-attrs": (
        "sdy.passes.gspmd.round_trip.export_attributes:RoundTripExportShardyAttrs"
    ),
    "xla-sdy-round-trip-import-pipeline": (
        "sdy.passes.gspmd.round_trip.import_pipeline:RoundTripImportPipeline"
    ),
    "xla-sdy-round-trip-import-shardy-attrs": (
        "sdy.passes.gspmd.round_trip.import_attributes:RoundTripImportShardyAttrs"
    ),
    "xla-sdy-round-trip-shard-map-import": (
        "sdy.passes.gspmd.round_trip.shard_map_import:RoundTripShardMapImport"
    ),
}


class UnknownPassError(Error):
    """No pass of this package has the name, nor one of MLIR."""

    def __init__(self, name: str, also: Iterable[str] = ()) -> None:
        """Take the name, and what it may be a slip of besides the passes here."""
        from sdy.dialect.suggestion import did_you_mean

        super().__init__(f"unknown pass '{name}'{did_you_mean(name, [*_PASSES, *also])}")
        self.name = name


def pass_names() -> tuple[str, ...]:
    """Return the flags of all passes."""
    return tuple(_PASSES)


def get_pass(name: str) -> type[Pass]:
    """Return the class of the pass with that flag; UnknownPassError where there is none."""
    place = _PASSES.get(name)
    if place is None:
        raise UnknownPassError(name)
    module, _, cls = place.partition(":")
    return cast("type[Pass]", getattr(import_module(module), cls))
