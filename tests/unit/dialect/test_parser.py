"""What the parser reads, and how it says that it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, ParseError, VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import (
    parse_manual_axes,
    parse_mesh,
    parse_rule,
    parse_sharding,
    parse_sharding_per_value,
)
from sdy.dialect.printer import to_mlir
from sdy.dialect.sharding import DimensionSharding, TensorSharding

if TYPE_CHECKING:
    from collections.abc import Callable

MESH = Mesh({"x": 2, "y": 8, "z": 2}, name="mesh")
PARSERS: list[Callable[[str | bytes], object]] = [
    parse_mesh,
    parse_sharding,
    parse_sharding_per_value,
    parse_manual_axes,
    parse_rule,
]


@pytest.mark.parametrize(
    "text",
    [
        '@mesh = <["x"=2, "y"=8, "z"=2]>',
        '@mesh = <"x"=2, "y"=8, "z"=2>',
        'sdy.mesh @mesh = <["x"=2, "y"=8, "z"=2]>',
        '@"mesh" = <["\\78"=0x2,"y" = 008 , "z"=2]> // a comment',
        '@mesh = <["x"=2, "y"=8, "z"=2], device_ids=[' + ", ".join(map(str, range(32))) + "]>",
    ],
)
def test_spellings_of_a_mesh(text: str) -> None:
    assert parse_mesh(text) == MESH


@pytest.mark.parametrize(
    "text", ['<["x"=2]>', '<"x"=2>', 'mesh<["x"=2]>', '#sdy.mesh<["x"=2]>', '#sdy<mesh<["x"=2]>>']
)
def test_spellings_of_a_mesh_without_name(text: str) -> None:
    assert parse_mesh(text) == Mesh({"x": 2})


def test_meshes_of_every_kind() -> None:
    assert parse_mesh("@empty = <[]>").is_empty
    assert parse_mesh("<[], device_ids=[3]>") == Mesh.maximal(3)
    assert parse_mesh('<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>').device_ids == (0, 2, 1, 3)


@pytest.mark.parametrize(
    "text",
    [
        'sharding<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>',
        'sharding<@mesh, [<"x">, <"y":(2)2, ?>p1], replicated=<"z">>',
        '<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>',
        'sdy.sharding=<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>',
        'sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>',
        '#sdy.sharding<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>',
        '#sdy<sharding<@mesh, [{"x"}, {"y":(2)2, ?}p1], replicated={"z"}>>',
        'sharding<@mesh,[{"x"},{"y" : (2) 2,?} p1],replicated = {"z"}> : tensor<4x?xcomplex<f32>>',
    ],
)
def test_spellings_of_a_sharding(text: str) -> None:
    assert parse_sharding(text, MESH) == TensorSharding(
        MESH,
        (
            DimensionSharding((AxisRef("x"),)),
            DimensionSharding((AxisRef.sub("y", 2, 2),), is_closed=False, priority=1),
        ),
        replicated=(AxisRef("z"),),
    )


def test_replicated_and_unreduced_axes_come_in_either_order() -> None:
    one = parse_sharding('sharding<@mesh, [], replicated={"x"}, unreduced={"z"}>', MESH)
    other = parse_sharding('sharding<@mesh, [], unreduced={"z"}, replicated={"x"}>', MESH)
    assert one == other
    assert (one.replicated, one.unreduced) == ((AxisRef("x"),), (AxisRef("z"),))


def test_an_inlined_mesh() -> None:
    sharding = parse_sharding('sharding<mesh<["x"=2], device_ids=[1, 0]>, [{"x"}]>', MESH)
    assert sharding.bound_mesh == Mesh({"x": 2}, [1, 0])
    assert sharding.mesh_name is None


def test_where_a_mesh_is_found() -> None:
    text = 'sharding<@mesh, [{"x"}]>'
    assert parse_sharding(text).mesh == "mesh"
    assert parse_sharding(text, MESH).mesh == MESH
    assert parse_sharding(text, {"other": Mesh({"q": 2}), "mesh": MESH}).mesh == MESH
    assert parse_sharding(text, Mesh({"x": 2})).mesh == Mesh({"x": 2}, name="mesh")
    assert parse_sharding(f'@mesh = <"x"=4>\n{text}', MESH).mesh == Mesh({"x": 4}, name="mesh")
    for wrong in (MESH.renamed("other"), {"other": MESH}, {}):
        with pytest.raises(VerifyError, match=r"^unknown mesh: @mesh$"):
            parse_sharding(text, wrong)
    with pytest.raises(VerifyError, match=r'^no mesh is bound to the name @"a b": '):
        _ = parse_sharding('sharding<@"a b", []>').bound_mesh


def test_lists_of_shardings() -> None:
    text = 'sdy.sharding_per_value=<[<@mesh, [{"x"}]>, <@mesh, []>]>'
    per_value = parse_sharding_per_value(text, MESH)
    assert [sharding.rank for sharding in per_value.shardings] == [1, 0]
    for other in (str(per_value), to_mlir(per_value), f"sdy.sharding = {to_mlir(per_value)}"):
        assert parse_sharding_per_value(other, MESH) == per_value
    assert parse_sharding_per_value("<[]>").shardings == ()
    with pytest.raises(VerifyError, match=r'^1 - unknown axis name: "q"$'):
        parse_sharding_per_value('<[<@mesh, [{"x"}]>, <@mesh, [{"q"}]>]>', MESH)


def test_manual_axes() -> None:
    for text in ('{"x", "y"}', 'manual_axes={"x", "y"}', '#sdy.manual_axes{"x", "y"}'):
        assert parse_manual_axes(text).names == ("x", "y")
    with pytest.raises(VerifyError, match=r'^unknown manual axis: "w"$'):
        parse_manual_axes('{"x", "w"}').verify(MESH)


def test_a_rule_in_short_notation() -> None:
    rule = parse_rule("([i, k],[k, j])->([i, j]) {i=4, j=8, k=2} reduction={k}, custom")
    assert str(rule) == (
        "op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=8, k=2} reduction={k}, custom>"
    )
    assert (rule.factor_sizes, rule.reduction, rule.is_custom) == ((4, 8, 2), (2,), True)


def test_a_rule_with_compound_factors_beyond_z() -> None:
    names = [*"ijklmnopqrstuvwxyz", "z_1", "z_2"]
    sizes = ", ".join(f"{name}=2" for name in names)
    rule = parse_rule(f"([{', '.join(names)}])->([{''.join(names)}]) {{{sizes}}}")
    assert rule.results[0].dimensions[0].factors == tuple(range(20))
    assert "->([ijklmnopqrstuvwxyzz_1z_2])" in str(rule)


def test_oddities_that_mlir_reads_too() -> None:
    rule = parse_rule("([i, j])->([i, j]) {i=2, j=false} reduction= permutation={ji}")
    assert (rule.factor_sizes, rule.reduction, rule.permutation) == ((2, 0), (), (1,))
    mesh = parse_mesh('<["x"=0x2], device_ids=[1, // 2, 3\n 00]>')
    assert mesh == Mesh({"x": 2}, [1, 0])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (
            "sharding<@mesh, [{?}",
            1,
            21,
            "expected ',', ']' or a priority such as p1, found end of text",
        ),
        ('sharding<@mesh, [{"x" ?}]>', 1, 23, "expected ',', ':' or '}', found '?'"),
        ('sharding<@mesh,\n  [{"x"},\n   "y"]>', 3, 4, "expected '<' or '{', found '\"y\"'"),
        ("sharding<@mesh, [{x}]>", 1, 19, "expected '?', '}' or a quoted name, found 'x'"),
        ('#sdy.sharding<@mesh, [<"x">]>', 1, 23, "expected ']' or '{', found '<'"),
        ("sharding<@mesh, [], replicated={}>", 1, 33, "expected a quoted name, found '}'"),
        ("sharding<@mesh, [], >", 1, 21, "expected 'replicated' or 'unreduced', found '>'"),
        ('sharding<@mesh, [{"x}]>', 1, 19, "a string without end"),
        (
            "sharding<@mesh, [{?}p01]>",
            1,
            21,
            "priorities with leading zeros are not allowed, got: p01",
        ),
        (
            "sharding<@mesh, [{?}high]>",
            1,
            21,
            "expecting priority in format 'p<number>', got: high",
        ),
        (
            f"sharding<@mesh, [{{?}}p{2**63}]>",
            1,
            21,
            "expecting integer priority, got: p9223372036854775808",
        ),
        ('sharding<@mesh, [{"x":(1)99999999999999999999}]>', 1, 26, "integer value too large"),
        ("sharding<@mesh, []> : tensor<*xf32>", 1, 23, "only ranked tensors can have a sharding"),
        ("", 1, 1, "found end of text"),
    ],
)
def test_a_syntax_error_says_where_what_and_what_else(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parse_sharding(text, MESH)
    assert (caught.value.line, caught.value.column) == (line, column)
    first, source, caret = str(caught.value).split("\n")
    assert first.startswith(f"{line}:{column}: error: ")
    assert message in first
    assert source == "  " + text.split("\n")[line - 1]
    assert caret == " " * (column + 1) + "^"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("([a])->([i])", "expecting symbol from 'i' to 'z'. Received: 'a'"),
        ("([z_])->([i])", "expecting integer after 'z_'. Received: 'z_'"),
        ("([z_0])->([i])", "expecting positive integer without leading zeros. Received: '0'"),
        (f"([z_{2**63}])->([i])", "expecting symbol index <=2^63-1"),
        ("([i])->([i]) {j=2}", "Expecting factor index symbol 'i', received: 'j'"),
        ("([i])->([i]) {ij=2}", "expecting single factor symbol: j"),
        (f"([i])->([i]) {{i={2**31}}}", "integer value too large"),
        ("([i])->([i]) {i=2},", "expected 'custom', found end of text"),
        ("([i])->([i j])", "expected ',' or ']', found 'j'"),
        ("()->([i])", "expected '[', found ')'"),
    ],
)
def test_syntax_errors_of_rules(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_rule(text)
    assert message in str(caught.value)


def test_a_long_line_is_cut_around_the_error() -> None:
    text = "sharding<@mesh, [" + '{"x"}, ' * 1000 + "}]>"
    with pytest.raises(ParseError) as caught:
        parse_sharding(text)
    _, source, caret = str(caught.value).split("\n")
    assert len(source) < 100
    assert source[caret.index("^")] == "}"


@pytest.mark.parametrize("parse", PARSERS)
@given(text=st.text() | st.binary() | st.text(alphabet='<>[]{}()@#"=?,: xi1->\ud800\x00'))
@example(text="[" * 100_000)
@example(text="<[<@m, [{" * 20_000)
@example(text='<["x"=' + "9" * 100_000 + "]>")
@example(text="([" + "z_" + "9" * 100_000 + "])->([i])")
@example(text='<@m, [{"x":(' + "1" * 5_000 + ")2}]>")
@example(text='<["\udcff"=2, "\udcff"=2]>')
def test_nothing_but_our_errors_comes_out(
    parse: Callable[[str | bytes], object], text: str | bytes
) -> None:
    try:
        parse(text)
    except Error as error:
        assert str(error).encode("utf-8")  # noqa: PT017


@pytest.mark.parametrize(
    "text", ['sharding<@m, [{"x"}]> : tensor<2x3xf32>', 'sharding<@m, [{"x"}]> : tensor<f32>']
)
def test_the_rank_is_checked_against_the_type(text: str) -> None:
    for mesh in (None, Mesh({"x": 2})):
        with pytest.raises(VerifyError, match=r"sharding doesn't match tensor rank: 1 != "):
            parse_sharding(text, mesh)


def test_what_is_wrong_on_every_mesh_is_found_without_one() -> None:
    for text, message in [
        ('[{"x"}, {"x"}]', 'duplicate axis ref: "x"'),
        ('[{"x"}, {"x":(1)2}]', 'both sub-axis and full-axis are used for axis name: "x"'),
        ('[{"x":(1)4}, {"x":(2)4}]', 'overlapping sub-axes: "x":(1)4, "x":(2)4'),
        ("[{}p1]", "dim 0 is empty and closed but has a priority"),
    ]:
        with pytest.raises(VerifyError) as caught:
            parse_sharding(f"sharding<@m, {text}>")
        assert str(caught.value) == message


def test_bytes_that_are_not_utf_8_are_names_like_any_other() -> None:
    mesh = parse_mesh(b'<["\xff"=2]>')
    assert mesh == parse_mesh('<["\\FF"=2]>')
    assert str(mesh) == '<["\\FF"=2]>'


def test_arguments_of_other_types() -> None:
    nothing: Any = None
    for parse in (parse_mesh, parse_sharding, parse_sharding_per_value, parse_rule):
        with pytest.raises(TypeError, match="text: expected a str or bytes, got NoneType"):
            parse(nothing)
    meshes: tuple[Any, ...] = (3, "mesh", [MESH], {"mesh": 3})
    for mesh in meshes:
        with pytest.raises(TypeError, match="mesh: expected a Mesh or a mapping of names to"):
            parse_sharding("<@mesh, []>", mesh)
    with pytest.raises(TypeError, match=r"value: expected a mesh, sharding, .*, got str"):
        to_mlir(meshes[1])
