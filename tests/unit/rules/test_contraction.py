from __future__ import annotations

import pytest

from tests.unit.rules.op_text import rule_text


def test_dot_general() -> None:
    text = """%0 = stablehlo.dot_general %a, %b,
      batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x8x32xf32>, tensor<2x32x16xf32>) -> tensor<2x8x16xf32>"""
    rule = rule_text(text, arguments="%a: tensor<2x8x32xf32>, %b: tensor<2x32x16xf32>")
    assert rule == ("([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=8, k=16, l=32} reduction={l}")


@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "rule"),
    [
        ("8x4", "4x6", "8x6x", "([i, k], [k, j])->([i, j]) {i=8, j=6, k=4} reduction={k}"),
        ("8x4", "4", "8x", "([i, j], [j])->([i]) {i=8, j=4} reduction={j}"),
        ("4", "4x6", "6x", "([j], [j, i])->([i]) {i=6, j=4} reduction={j}"),
        ("4", "4", "", "([i], [i])->([]) {i=4} reduction={i}"),
    ],
)
def test_dot_of_matrices_and_vectors(lhs: str, rhs: str, result: str, rule: str) -> None:
    a, b = f"tensor<{lhs}xf32>", f"tensor<{rhs}xf32>"
    text = f"%0 = stablehlo.dot %a, %b : ({a}, {b}) -> tensor<{result}f32>"
    assert rule_text(text, arguments=f"%a: {a}, %b: {b}") == rule


def convolution(conservative: bool = False, groups: str = "", features: int = 3) -> str | None:
    kernel_features = 3 if "feature_group_count" not in groups else 1
    counts = groups or "feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    image, kernel = f"tensor<2x32x{features}xf32>", f"tensor<5x{kernel_features}x6xf32>"
    text = f"""%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {{}} {{{counts}}} : ({image}, {kernel}) -> tensor<2x28x6xf32>"""
    return rule_text(text, arguments=f"%a: {image}, %b: {kernel}", conservative=conservative)


def test_a_spatial_dimension_is_split_along_windows_then_within_them() -> None:
    # 32 rows: 28 windows are the major factor; of the 5 rows of a window none is left.
    assert convolution() == (
        "([i, j, k], [m, k, l])->([i, j, l]) {i=2, j=28, k=3, l=6, m=1} "
        "reduction={k} permutation={j}"
    )


def test_a_conservative_convolution_leaves_spatial_dimensions_alone() -> None:
    assert convolution(conservative=True) == (
        "([i, l, j], [m, j, k])->([i, n, k]) {i=2, j=3, k=6, l=1, m=1, n=1} reduction={j}"
    )


def test_feature_groups_are_the_major_part_of_features() -> None:
    groups = "feature_group_count = 3 : i64, batch_group_count = 1 : i64"
    assert convolution(groups=groups) == (
        "([i, j, k], [n, l, km])->([i, j, km]) {i=2, j=28, k=3, l=1, m=2, n=1} "
        "reduction={l} permutation={j}"
    )
