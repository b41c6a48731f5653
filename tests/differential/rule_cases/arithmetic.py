"""Cases of products, reductions and windows."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.differential.rule_cases.text import array, case, combiner, tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["convolutions", "dots", "reductions", "select_and_scatters", "windows"]


def dots(draw: Draw, scale: int) -> Cases:
    for lhs, rhs in product(([4], [3, 4], [1, 4]), ([4], [4, 5], [4, 1])):
        result = lhs[:-1] + rhs[1:]
        yield case("stablehlo.dot", [tensor(lhs), tensor(rhs)], [tensor(result)])
    for _ in range(4 * scale):
        batch, contracted = draw.shape(0, 2), draw.shape(0, 2)
        sides = []
        numbers = []
        for side in ("lhs", "rhs"):
            free = draw.shape(0, 2)
            labels = [*(("b", i) for i in range(len(batch)))]
            labels += [("c", i) for i in range(len(contracted))]
            labels += [("f", i) for i in range(len(free))]
            draw.shuffle(labels)
            sizes = {"b": batch, "c": contracted, "f": free}
            shape = [sizes[kind][i] for kind, i in labels]
            # The free dimensions appear in the result in the order of the operand.
            order = [sizes["f"][i] for kind, i in labels if kind == "f"]
            sides.append((shape, order))
            batch_dims = [labels.index(("b", i)) for i in range(len(batch))]
            contracted_dims = [labels.index(("c", i)) for i in range(len(contracted))]
            numbers.append(f"{side}_batching_dimensions = {batch_dims}")
            numbers.append(f"{side}_contracting_dimensions = {contracted_dims}")
        (lhs, lhs_free), (rhs, rhs_free) = sides
        yield case(
            "stablehlo.dot_general",
            [tensor(lhs), tensor(rhs)],
            [tensor(batch + lhs_free + rhs_free)],
            f"dot_dimension_numbers = #stablehlo.dot<{', '.join(sorted(numbers))}>",
        )


def reductions(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        shape = draw.shape(0, 5)
        reduced = draw.subset(len(shape))
        draw.shuffle(reduced)
        elements = draw.choice([["f32"], ["f32", "i32"], ["f32", "f32", "i1"]])
        kept = [size for dim, size in enumerate(shape) if dim not in reduced]
        returned = ", ".join(f"%a{i}" for i in range(len(elements)))
        yield case(
            "stablehlo.reduce",
            [*(tensor(shape, e) for e in elements), *(f"tensor<{e}>" for e in elements)],
            [tensor(kept, e) for e in elements],
            f"dimensions = {array(reduced)}",
            combiner(elements, "", returned),
        )


def windows(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        shape = draw.shape(1, 4)
        window, strides, padding = _window(draw, shape)
        result = [
            (size + sum(pad) - w) // stride + 1
            for size, w, stride, pad in zip(shape, window, strides, padding, strict=True)
        ]
        elements = draw.choice([["f32"], ["f32", "i32"]])
        returned = ", ".join(f"%a{i}" for i in range(len(elements)))
        yield case(
            "stablehlo.reduce_window",
            [*(tensor(shape, e) for e in elements), *(f"tensor<{e}>" for e in elements)],
            [tensor(result, e) for e in elements],
            f"window_dimensions = {array(window)}" + _window_attributes(draw, strides, padding),
            combiner(elements, "", returned),
        )


def select_and_scatters(draw: Draw, scale: int) -> Cases:
    select = combiner(
        ["f32"],
        "%p = stablehlo.compare GE, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "%p",
    ).replace(": (tensor<f32>) -> ()", ": (tensor<i1>) -> ()")
    scatter = combiner(["f32"], "", "%a0").replace("%a0", "%c").replace("%b0", "%d")
    for _ in range(scale):
        shape = draw.shape(1, 4)
        window, strides, padding = _window(draw, shape)
        source = [
            (size + sum(pad) - w) // stride + 1
            for size, w, stride, pad in zip(shape, window, strides, padding, strict=True)
        ]
        yield case(
            "stablehlo.select_and_scatter",
            [tensor(shape), tensor(source), "tensor<f32>"],
            [tensor(shape)],
            f"window_dimensions = {array(window)}" + _window_attributes(draw, strides, padding),
            f"{select} }}, {{ {scatter}",
        )


def _window(draw: Draw, shape: Sequence[int]) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    window = [draw.choice([1, 1, min(size, draw.randint(1, 3))]) for size in shape]
    strides = [draw.choice([1, 1, 2]) for _ in shape]
    padding = [draw.choice([(0, 0), (0, 0), (1, 0), (0, 2), (1, -1)]) for _ in shape]
    return window, strides, padding


def _window_attributes(
    draw: Draw, strides: Sequence[int], padding: Sequence[tuple[int, int]]
) -> str:
    """Return the attributes; those that say nothing are left out at times."""
    text = ""
    if max(strides) > 1 or draw.random() < 0.5:
        text += f", window_strides = {array(strides)}"
    if any(map(any, padding)) or draw.random() < 0.5:
        rows = [list(row) for row in padding]
        text += f", padding = dense<{rows}> : tensor<{len(rows)}x2xi64>"
    return text


def convolutions(draw: Draw, scale: int) -> Cases:
    for _ in range(3 * scale):
        spatial = draw.randint(0, 2)
        features, outputs, batch = draw.size(), draw.size(), draw.size()
        batch_groups, feature_groups = 1, 1
        if draw.random() < 0.3:
            batch_groups = draw.choice([2, 3])
        elif draw.random() < 0.4:
            feature_groups = draw.choice([2, 3])
        inputs = [draw.size() for _ in range(spatial)]
        windows = [draw.randint(1, size) for size in inputs]
        strides = [draw.choice([1, 1, 2]) for _ in range(spatial)]
        results = [
            (size - window) // stride + 1
            for size, window, stride in zip(inputs, windows, strides, strict=True)
        ]
        groups = batch_groups * feature_groups
        lhs, lhs_text = _laid_out(
            draw, ["b", "f"], [batch * batch_groups, features * feature_groups], inputs
        )
        rhs, rhs_text = _laid_out(draw, ["i", "o"], [features, outputs * groups], windows)
        out, out_text = _laid_out(draw, ["b", "f"], [batch, outputs * groups], results)
        yield case(
            "stablehlo.convolution",
            [tensor(lhs), tensor(rhs)],
            [tensor(out)],
            f"window_strides = {array(strides)}, "
            f"dimension_numbers = #stablehlo.conv<{lhs_text}x{rhs_text}->{out_text}>, "
            f"feature_group_count = {feature_groups} : i64, "
            f"batch_group_count = {batch_groups} : i64",
        )


def _laid_out(
    draw: Draw, names: Sequence[str], sizes: Sequence[int], spatial: Sequence[int]
) -> tuple[list[int], str]:
    """Return a shape with its dimensions in some order, and the text of that order."""
    labelled = [*zip(names, sizes, strict=True), *((str(i), n) for i, n in enumerate(spatial))]
    draw.shuffle(labelled)
    return [size for _, size in labelled], f"[{', '.join(name for name, _ in labelled)}]"
