"""What the partitioner reads of an op beside its types: windows, dimensions, batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.explain.partitioner.detail import NO_DETAIL, Detail, Window
from sdy.ir.types import shape

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["detail_of"]


def detail_of(op: ir.Operation, name: str) -> Detail:
    """Return what else than rule and types decides the exchanges of an op of that name."""
    read = _READERS.get(name)
    return NO_DETAIL if read is None else read(op)


def _integers(op: ir.Operation, attribute: str) -> tuple[int, ...]:
    if attribute not in op.attributes:
        return ()
    return tuple(int(value) for value in op.attributes[attribute])


def _integer(op: ir.Operation, attribute: str) -> int:
    return ir.IntegerAttr(op.attributes[attribute]).value if attribute in op.attributes else 0


def _slice(op: ir.Operation) -> Detail:
    starts, strides = _integers(op, "start_indices"), _integers(op, "strides")
    pairs = enumerate(zip(starts, strides, strict=True))
    whole, part = shape(op.operands[0].type), shape(op.results[0].type)
    windows = tuple(
        Window(dim, dim, low=-start, stride=stride)
        for dim, (start, stride) in pairs
        if whole[dim] != part[dim]
    )
    return Detail(windows=windows)


def _pad(op: ir.Operation) -> Detail:
    low, high = _integers(op, "edge_padding_low"), _integers(op, "edge_padding_high")
    windows = tuple(
        Window(dim, dim, low=before)
        for dim, (before, behind) in enumerate(zip(low, high, strict=True))
        if before or behind
    )
    return Detail(windows=windows)


def _reduce_window(op: ir.Operation) -> Detail:
    sizes = _integers(op, "window_dimensions")
    strides = _integers(op, "window_strides") or (1,) * len(sizes)
    dilations = _integers(op, "window_dilations") or (1,) * len(sizes)
    padding = _padding(op) or ((0, 0),) * len(sizes)
    windows = tuple(
        Window(dim, dim, padding[dim][0], strides[dim], size, dilations[dim])
        for dim, size in enumerate(sizes)
        if (size, strides[dim], padding[dim]) != (1, 1, (0, 0))
    )
    return Detail(windows=windows)


def _convolution(op: ir.Operation) -> Detail:
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    dims = tuple(numbers.input_spatial_dimensions)
    strides = _integers(op, "window_strides") or (1,) * len(dims)
    dilations = _integers(op, "rhs_dilation") or (1,) * len(dims)
    padding = _padding(op) or ((0, 0),) * len(dims)
    kernel = shape(op.operands[1].type)
    windows = tuple(
        Window(dim, out, padding[i][0], strides[i], kernel[kernel_dim], dilations[i])
        for i, (dim, out, kernel_dim) in enumerate(
            zip(
                dims,
                numbers.output_spatial_dimensions,
                numbers.kernel_spatial_dimensions,
                strict=True,
            )
        )
    )
    return Detail(windows=windows)


def _padding(op: ir.Operation) -> tuple[tuple[int, int], ...]:
    if "padding" not in op.attributes:
        return ()
    flat = [int(value) for value in ir.DenseIntElementsAttr(op.attributes["padding"])]
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def _sort(op: ir.Operation) -> Detail:
    """Return the sorted dimension; the last one by default, and counted from behind if negative."""
    rank = len(shape(op.results[0].type))
    dim = _integer(op, "dimension") if "dimension" in op.attributes else -1
    return Detail((dim % rank,)) if rank else NO_DETAIL


def _custom_call(op: ir.Operation) -> Detail:
    """Return the leading dimensions that are batches, which JAX says of its kernels."""
    if "mhlo.frontend_attributes" not in op.attributes:
        return NO_DETAIL
    named = ir.DictAttr(op.attributes["mhlo.frontend_attributes"])
    if "num_batch_dims" not in named:
        return NO_DETAIL
    return Detail(tuple(range(int(ir.StringAttr(named["num_batch_dims"]).value))))


_READERS: dict[str, Callable[[ir.Operation], Detail]] = {
    "stablehlo.concatenate": lambda op: Detail((_integer(op, "dimension"),)),
    "stablehlo.convolution": _convolution,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.pad": _pad,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.reverse": lambda op: Detail(_integers(op, "dimensions")),
    "stablehlo.slice": _slice,
    "stablehlo.sort": _sort,
}
