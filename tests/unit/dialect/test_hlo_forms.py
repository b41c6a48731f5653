"""Shard groups, metadata and named axes of HloShardings: text, protocol buffer, errors."""

from __future__ import annotations

import pytest

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, ParseError, VerifyError
from sdy.dialect.hlo_metadata import OpMetadata, ShardGroup, ShardGroupKind
from sdy.dialect.hlo_proto import decode_hlo_sharding, encode_hlo_sharding
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding

TEXTS = [
    "{replicated shard_as 0}",
    "{manual shard_like 12}",
    "{maximal device=3 shard_as 1}",
    "{devices=[2,2]<=[4] last_tile_dim_replicate shard_like 3}",
    '{replicated metadata={op_name="jit(f)/dot"}}',
    "{replicated metadata={}}",
    '{devices=[2,2]<=[4] shard_as 1 metadata={{op_name="a"}, {op_type="b" source_line=3}}}',
    r'{unknown metadata={op_name="\"quoted\"\n\303\251" profile_type={1,2} stack_frame_id=4}}',
    '{{replicated shard_as 1}, {manual metadata={op_name="x"}}}',
    "{mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}}",
    "{mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], unreduced={'y':(2)2}}",
    "{mesh['x'=2,'y'=4], device_ids=(0,4,1,5,2,6,3,7), [{'y', 'x'}, {}]}",
    "{mesh['x'=2,'y'=2,'z'=2], [{}], replicated={'x'}, unreduced={'y'}, manual={'z'}}",
    "{mesh['x'=2], replicated}",
    "{mesh['x'=2,'y'=4], manual, metadata={{op_name=\"foo\"}}}",
    "{mesh['x'=2,'y'=4], unreduced}",
    "{mesh['x'=2,'y'=4], [], manual={'x'}}",
    "{mesh['x'=2], [{}, {}]}",
    "{mesh[], replicated}",
    "{maximal_mesh[device_id=3]}",
    "{{mesh['x'=2], [{'x'}]}, {replicated}}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_printed_as_it_was_read(text: str) -> None:
    assert str(HloSharding.parse(text)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_protocol_buffers_come_back_as_they_went(text: str) -> None:
    sharding = HloSharding.parse(text)
    decoded = decode_hlo_sharding(encode_hlo_sharding(sharding))
    assert decoded == sharding
    assert str(decoded) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (
            "{replicated metadata={op_name='a'} shard_as 1}",
            '{replicated shard_as 1 metadata={op_name="a"}}',
        ),
        (
            '{replicated metadata={source_line=3, op_name="a"}}',
            '{replicated metadata={op_name="a" source_line=3}}',
        ),
        ('{mesh["x"=2], [{"x"}], replicated={}}', "{mesh['x'=2], [{'x'}]}"),
        ("{mesh['x'=2], []}", "{mesh['x'=2], replicated}"),
        ("{mesh['x'=2], [], unreduced={'x'}}", "{mesh['x'=2], unreduced}"),
        (
            "{mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), replicated}",
            "{mesh['x'=2,'y'=4], device_ids=(0,2,4,6,1,3,5,7), replicated}",
        ),
        ("{mesh['x'=2,'y'=4], device_ids=([8]), replicated}", "{mesh['x'=2,'y'=4], replicated}"),
    ],
)
def test_text_has_one_form(text: str, printed: str) -> None:
    assert str(HloSharding.parse(text)) == printed


def test_the_parts_are_values() -> None:
    parsed = HloSharding.parse('{replicated shard_like 3 metadata={op_name="a" source_line=2}}')
    assert parsed.shard_group == ShardGroup(ShardGroupKind.LIKE, 3)
    assert parsed.metadata == (OpMetadata(op_name="a", source_line=2),)
    assert parsed == parsed.with_suffixes(parsed.shard_group, ())
    assert parsed != HloSharding.replicated()

    named = HloSharding.parse("{mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}}")
    assert named.kind is HloShardingKind.NAMED
    mesh = Mesh({"x": 2, "y": 4})
    dimensions = (DimensionSharding((AxisRef("x"),)), DimensionSharding(is_closed=False))
    assert named.named is not None
    assert named.named.sharding == TensorSharding(mesh, dimensions, (AxisRef("y"),))
    assert HloSharding.of_names(named.named.sharding.bind(mesh.renamed("m"))) == named


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("{replicated shard_as}", 21, "expected an integer, found '}'"),
        ("{replicated shard_as 1 shard_as 2}", 1, "given twice"),
        ("{replicated metadata={op=3}}", 23, "a field such as op_name"),
        ("{mesh['x'=2], [{'x'}], shard_as 3}", 24, "found 'shard_as'"),
        ("{mesh['x'=2], [{'x'}], manual={}, manual={}}", 1, "given twice"),
        ("{mesh['x'=2], device_ids=([2]T(1)), [{'x'}]}", 27, "no permutation of 1 dimensions"),
        ("{{{replicated}}}", 3, "found '{'"),
    ],
)
def test_wrong_text_is_named_where_it_stands(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        HloSharding.parse(text)
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{mesh['x'=2], [{'y'}]}", 'unknown axis name: "y"'),
        ("{mesh['x'=2], [{'x'}], manual={'x'}}", 'manual axis "x" is in use'),
        ("{mesh['x'=2], [{}], manual={'y'}}", 'unknown axis name: "y"'),
        ("{mesh['x'=4], [{'x':(1)2, 'x':(2)2}]}", "can be merged"),
        ("{mesh['x'=2], device_ids=(1,2), [{'x'}]}", "device ids must be iota"),
    ],
)
def test_axes_that_xla_aborts_on_are_refused(text: str, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        HloSharding.parse(text)


def test_tuples_and_named_shardings_are_in_no_group() -> None:
    group = ShardGroup(ShardGroupKind.AS, 1)
    with pytest.raises(ValueError, match=r"in no shard group"):
        HloSharding.parse("{mesh['x'=2], replicated}").with_suffixes(group, ())
    with pytest.raises(ValueError, match=r"neither shard group nor metadata"):
        HloSharding.tuple_of([]).with_suffixes(group, ())


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"\x08", "ends within a number"),
        (b"\x1a\x05\x02", "ends within a field"),
        (b"\x0b", "a field of kind 3"),
        (b"\x08\x63", "unknown type 99"),
        (b"\x08\x01", "maximal, but on 0 devices"),
        (b"\x08\x03\x1a\x01\x02\x22\x01\x00", r"\[2\] has 2 places for 1 devices"),
        (b"\x08\x03\x1a\x01\x02\x22\x02\x00\x00", "a device is listed twice"),
        (b"\x08\x03\x1a\x01\x00", "no place for a device"),
        (
            b"\x08\x03\x1a\x02\x02\x01\x42\x01\x05\x4a\x01\x02\x52\x01\x00",
            "subgroup of the unknown",
        ),
        (
            b"r\x0f\x12\x07\n\x05\n\x01x\x10\x02\x1a\x04\n\x02\x08\x07",
            "axis 7 of a mesh with 1 axes",
        ),
    ],
)
def test_what_is_no_protocol_buffer_of_a_sharding_is_refused(message: bytes, error: str) -> None:
    with pytest.raises(Error, match=error):
        decode_hlo_sharding(message)
