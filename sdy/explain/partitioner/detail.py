"""What the partitioner needs to know of an op beside its rule and its types."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_DETAIL", "Detail", "Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """What an element of the result reads of the operand, along one dimension.

    Element `i` of the result reads `size` elements, `dilation` apart, from `i * stride - low` on.

    Attributes:
      dim: of the operand.
      result_dim: of the result.
      low: the padding before the operand; negative where a slice leaves elements out.
      stride: of the windows.
      size: the number of elements of a window.
      dilation: the distance of the elements of a window.

    """

    dim: int
    result_dim: int
    low: int = 0
    stride: int = 1
    size: int = 1
    dilation: int = 1


@dataclass(frozen=True, slots=True)
class Detail:
    """What an op says of some of its dimensions.

    Attributes:
      dims: the sorted, joined or reversed dimensions; the batches of a custom call.
      windows: of the dimensions in which elements of the result and the operand do not match.

    """

    dims: tuple[int, ...] = ()
    windows: tuple[Window, ...] = ()


NO_DETAIL = Detail()
