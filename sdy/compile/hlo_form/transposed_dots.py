"""Transposed products, as gradients of weights have them, become products of the two swapped.

XLA does this before it partitions for GPUs and TPUs, and leaves the product with the sharding
that it had before it was transposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from sdy.ir.attributes import SHARDING
from sdy.ir.types import rank

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["fold_transposed_dots"]

_DOT = "stablehlo.dot_general"
_TRANSPOSE = "stablehlo.transpose"


def fold_transposed_dots(module: IndexedModule) -> None:
    """Replace each transpose of a product without other uses that swaps its two factors."""
    for transpose in module.ops(_TRANSPOSE):
        dot = transpose.operands[0].owner
        if not isinstance(dot, ir.Operation | ir.OpView) or dot.operation.name != _DOT:
            continue
        dot = dot.operation
        if "algorithm" in dot.attributes:
            # It says what becomes of each factor.
            continue
        if len(list(dot.results[0].uses)) == 1 and _swaps(transpose, dot):
            _fold(transpose, dot)
    module.ops_changed()


def _swaps(transpose: ir.Operation, dot: ir.Operation) -> bool:
    """Return whether a transpose exchanges the dimensions of the two factors of a product."""
    numbers = stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
    batch = len(numbers.lhs_batching_dimensions)
    left, right = (
        rank(operand.type) - batch - len(contracting)
        for operand, contracting in zip(
            dot.operands,
            (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions),
            strict=True,
        )
    )
    total = batch + left + right
    swapped = [*range(batch), *range(batch + left, total), *range(batch, batch + left)]
    return list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"])) == swapped


def _fold(transpose: ir.Operation, dot: ir.Operation) -> None:
    numbers = stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
    attributes = {name: attr for name, attr in dot.attributes.items() if name != SHARDING}
    attributes["dot_dimension_numbers"] = stablehlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=numbers.rhs_batching_dimensions,
        rhs_batching_dimensions=numbers.lhs_batching_dimensions,
        lhs_contracting_dimensions=numbers.rhs_contracting_dimensions,
        rhs_contracting_dimensions=numbers.lhs_contracting_dimensions,
    )
    if "precision_config" in attributes:
        precision = list(ir.ArrayAttr(attributes["precision_config"]))
        attributes["precision_config"] = ir.ArrayAttr.get(precision[::-1])
    if SHARDING in transpose.attributes:
        attributes[SHARDING] = transpose.attributes[SHARDING]
    swapped = ir.Operation.create(
        _DOT,
        results=[transpose.results[0].type],
        operands=[dot.operands[1], dot.operands[0]],
        attributes=attributes,
        loc=dot.location,
        ip=ir.InsertionPoint(transpose),
    )
    transpose.results[0].replace_all_uses_with(swapped.results[0])
    transpose.erase()
    dot.erase()
