"""Cases of gathers and scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.rule_cases.text import array, case, combiner, tensor, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["gathers", "scatters"]


def gathers(draw: Draw, scale: int) -> Cases:
    for _ in range(4 * scale):
        source, indices, numbers, part = _slicing(draw)
        collapsed, batching = numbers["collapsed"], numbers["batching"]
        in_slice = [part[d] for d in range(len(source)) if d not in {*collapsed, *batching}]
        result, offset_dims = _interleave(draw, numbers["places"], in_slice)
        yield case(
            "stablehlo.gather",
            [tensor(source), tensor(indices, "i32")],
            [tensor(result)],
            f"dimension_numbers = #stablehlo.gather<offset_dims = {offset_dims}, "
            f"collapsed_slice_dims = {collapsed}, operand_batching_dims = {batching}, "
            f"start_indices_batching_dims = {numbers['indices_batching']}, "
            f"start_index_map = {numbers['map']}, "
            f"index_vector_dim = {numbers['vector'][0]}>, "
            f"slice_sizes = {array(part)}, indices_are_sorted = false",
        )


LOGICAL_SCATTER_BODIES = (
    *(f"%r0 = stablehlo.{name} %a0, %b0 : tensor<E>" for name in words("add and or maximum")),
    "%r0 = stablehlo.minimum %b0, %a0 : tensor<E>",
    "%r0 = stablehlo.xor %a0, %b0 : tensor<E>",
    "%r0 = stablehlo.or %a0, %a0 : tensor<E>",
    "",
)
SCATTER_BODIES = (
    *LOGICAL_SCATTER_BODIES,
    "%r0 = stablehlo.multiply %a0, %b0 : tensor<E>",
    "%r0 = stablehlo.subtract %a0, %b0 : tensor<E>",
    "%r0 = stablehlo.negate %b0 : tensor<E>",
)


def scatters(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        source, indices, numbers, part = _slicing(draw)
        inserted, batching = numbers["collapsed"], numbers["batching"]
        in_slice = [part[d] for d in range(len(source)) if d not in {*inserted, *batching}]
        update, window_dims = _interleave(draw, numbers["places"], in_slice)
        element, bodies = draw.choice([("i32", SCATTER_BODIES), ("i1", LOGICAL_SCATTER_BODIES)])
        elements = [element] * draw.choice([1, 1, 2])
        for _ in range(2):
            yield case(
                "stablehlo.scatter",
                [
                    *(tensor(source, e) for e in elements),
                    tensor(indices, "i32"),
                    *(tensor(update, e) for e in elements),
                ],
                [tensor(source, e) for e in elements],
                "scatter_dimension_numbers = #stablehlo.scatter<"
                f"update_window_dims = {window_dims}, inserted_window_dims = {inserted}, "
                f"input_batching_dims = {batching}, "
                f"scatter_indices_batching_dims = {numbers['indices_batching']}, "
                f"scatter_dims_to_operand_dims = {numbers['map']}, "
                f"index_vector_dim = {numbers['vector'][0]}>, "
                "indices_are_sorted = false, unique_indices = false",
                _scatter_body(draw, bodies, elements),
            )


def _scatter_body(draw: Draw, bodies: Sequence[str], elements: Sequence[str]) -> str:
    body, returned = "", []
    first = draw.choice(bodies)
    for i, element in enumerate(elements):
        text = first if draw.random() < 0.8 else draw.choice(bodies)
        body += text.replace("0", str(i)).replace("E", element) + " "
        returned.append(f"%r{i}" if text else f"%b{i}")
    return combiner(elements, body, ", ".join(returned))


def _slicing(
    draw: Draw,
) -> tuple[list[int], list[int], dict[str, list[int]], list[int]]:
    """Return the source, the indices, what goes with what, and the sizes of a slice."""
    source = draw.shape(1, 4)
    dims = draw.sample(range(len(source)), len(source))
    batch_count = draw.choice([0, 0, 1, min(2, len(dims))])
    batching = sorted(dims[:batch_count])
    rest = dims[batch_count:]
    collapsed = sorted(rest[: draw.randint(0, len(rest))])
    part = [
        1 if d in {*collapsed, *batching} else draw.choice([size, 1, draw.randint(1, size)])
        for d, size in enumerate(source)
    ]
    mapped = draw.sample(rest, draw.randint(0, len(rest)))
    places = draw.shape(batch_count, batch_count + 2)
    indices_batching = draw.sample(range(len(places)), batch_count)
    for dim, indices_dim in zip(batching, indices_batching, strict=True):
        places[indices_dim] = source[dim]
    vector = draw.randint(0, len(places))
    indices = [*places[:vector], len(mapped), *places[vector:]]
    if len(mapped) == 1 and draw.random() < 0.3:
        vector, indices = len(places), places
    numbers = {
        "batching": batching,
        "collapsed": collapsed,
        "indices_batching": [d + (d >= vector) for d in indices_batching],
        "map": mapped,
        "places": places,
        "vector": [vector],
    }
    return source, indices, numbers, part


def _interleave(
    draw: Draw, places: Sequence[int], in_slice: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return a shape with both kinds of dimensions, each in order, and where the second are."""
    rank = len(places) + len(in_slice)
    offset_dims = sorted(draw.sample(range(rank), len(in_slice)))
    sizes = {True: iter(in_slice), False: iter(places)}
    return [next(sizes[dim in offset_dims]) for dim in range(rank)], offset_dims
