"""Makes batch dimensions of gathers and scatters explicit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as mlir_stablehlo

from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass
from sdy.passes.canonicalize.canonicalize import Canonicalize
from sdy.passes.canonicalize.driver import pattern
from sdy.passes.import_pipeline.index_vectors import comes_from_iota, without_component

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.canonicalize.driver import Rewriter

__all__ = ["ExplicitGatherScatterBatching"]

_GATHER = "stablehlo.gather"
_SCATTER = "stablehlo.scatter"


@dataclass(frozen=True, slots=True)
class ExplicitGatherScatterBatching(Pass):
    """Turns implicit batch dimensions of gathers and scatters into explicit ones.

    Where the first dimension of the operand is indexed by an iota along the first dimension of
    the indices, row i of one goes with row i of the other: both can be split alike, which only an
    explicit batching dimension says. Ops that nothing uses are erased, and constants merged.
    """

    name: ClassVar[str] = "sdy-explicit-gather-scatter-batching"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Rewrite the ops in place."""
        greedy = Canonicalize(top_down=False, region_simplify="aggressive", enable_patterns="none")
        greedy.run_with(module, [explicit_gather_batching, explicit_scatter_batching])


@pattern(_GATHER)
def explicit_gather_batching(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Make the first dimension of the operand and of the indices a batching dimension."""
    old = mlir_stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    operand, indices = op.operands
    if old.operand_batching_dims:
        return False
    component = _iota_component(operand, indices, old.index_vector_dim, old.start_index_map)
    if component is None or 0 not in old.collapsed_slice_dims:
        return False
    numbers = mlir_stablehlo.GatherDimensionNumbers.get(
        offset_dims=old.offset_dims,
        collapsed_slice_dims=[d for d in old.collapsed_slice_dims if d != 0],
        operand_batching_dims=[0],
        start_indices_batching_dims=[0],
        start_index_map=[d for d in old.start_index_map if d != 0],
        index_vector_dim=old.index_vector_dim,
    )
    rest = without_component(op, indices, old.index_vector_dim, component, rewriter)
    attributes = _attributes(op, {"dimension_numbers": numbers}, flags=("indices_are_sorted",))
    _replace(op, [operand, rest], attributes, rewriter)
    return True


@pattern(_SCATTER)
def explicit_scatter_batching(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Make the first dimension of the inputs and of the indices a batching dimension."""
    old = mlir_stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    if old.input_batching_dims:
        return False
    operands = list(op.operands)
    count = len(operands) // 2
    indices = operands[count]
    dimensions = old.scattered_dims_to_operand_dims
    component = _iota_component(operands[0], indices, old.index_vector_dim, dimensions)
    if component is None or 0 not in old.inserted_window_dims:
        return False
    numbers = mlir_stablehlo.ScatterDimensionNumbers.get(
        update_window_dims=old.update_window_dims,
        inserted_window_dims=[d for d in old.inserted_window_dims if d != 0],
        input_batching_dims=[0],
        scatter_indices_batching_dims=[0],
        scattered_dims_to_operand_dims=[d for d in dimensions if d != 0],
        index_vector_dim=old.index_vector_dim,
    )
    operands[count] = without_component(op, indices, old.index_vector_dim, component, rewriter)
    flags = ("indices_are_sorted", "unique_indices")
    attributes = _attributes(op, {"scatter_dimension_numbers": numbers}, flags=flags)
    _replace(op, operands, attributes, rewriter)
    return True


def _iota_component(
    operand: ir.Value, indices: ir.Value, vector_dimension: int, mapped: Sequence[int]
) -> int | None:
    """Return which component of the index vectors counts the rows of both; None if none does."""
    operand_shape, indices_shape = operand.type.shape, indices.type.shape
    if (
        not operand_shape
        or vector_dimension >= len(indices_shape)
        # The last component cannot be taken away.
        or indices_shape[vector_dimension] <= 1
        or indices_shape[0] != operand_shape[0]
        or 0 not in mapped
    ):
        return None
    component = list(mapped).index(0)
    return component if comes_from_iota(indices, vector_dimension, component) else None


def _attributes(
    op: ir.Operation, changed: dict[str, ir.Attribute], *, flags: Sequence[str]
) -> dict[str, ir.Attribute]:
    """Return the attributes of `op` with some changed, and flags that it leaves out false."""
    false = {flag: ir.BoolAttr.get(False) for flag in flags}
    return false | dict(op.attributes) | changed


def _replace(
    op: ir.Operation,
    operands: Sequence[ir.Value],
    attributes: dict[str, ir.Attribute],
    rewriter: Rewriter,
) -> None:
    new = ir.Operation.create(
        op.name,
        [result.type for result in op.results],
        operands,
        attributes,
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(region.blocks):
            block.append_to(new_region)
    rewriter.created(new)
    rewriter.replace(op, list(new.results))
