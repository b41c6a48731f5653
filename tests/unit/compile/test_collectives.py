"""Collectives read from HLO text, in each way in which XLA prints them."""

from __future__ import annotations

import pytest

from sdy.compile.collectives import Collective, read_collectives
from sdy.dialect.errors import Error

PAIRS = ((0, 1), (2, 3))


@pytest.mark.parametrize(
    ("line", "collective"),
    [
        (
            "%all-reduce.1 = f32[4,5]{1,0} all-reduce(%dot), channel_id=1, "
            "replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%add",
            Collective("all-reduce", "f32[4,5]", PAIRS, 80),
        ),
        (
            "ROOT %ag = bf16[8]{0} all-gather(%x), replica_groups=[2,2]<=[4], dimensions={0}",
            Collective("all-gather", "bf16[8]", PAIRS, 16),
        ),
        (
            "%rs = f32[2]{0} reduce-scatter(%x), replica_groups=[2,2]<=[2,2]T(1,0), dimensions={0}",
            Collective("reduce-scatter", "f32[2]", ((0, 2), (1, 3)), 8),
        ),
        (
            "%a2a = (f32[2]{0}, /*index=1*/f32[3]{0}) all-to-all(%a, %b), "
            "replica_groups={{0,1},{2,3}}",
            Collective("all-to-all", "(f32[2], f32[3])", PAIRS, 20),
        ),
        (
            "%cp = pred[4]{0} collective-permute(%x), channel_id=2, "
            'source_target_pairs={{0,1},{2,3}}, metadata={op_name="a"}',
            Collective("collective-permute", "pred[4]", PAIRS, 4),
        ),
        (
            "%ag = f32[8]{0} all-gather(%x), channel_id=3, "
            "replica_groups=mesh['a'=2,'b'=2] {'b'}, dimensions={0}",
            Collective("all-gather", "f32[8]", PAIRS, 32),
        ),
        (
            "%ag = f32[8]{0} all-gather(%x), replica_groups=mesh['a'=4] {'a':(1)2}, dimensions={0}",
            Collective("all-gather", "f32[8]", ((0, 2), (1, 3)), 32),
        ),
        (
            "%ar = s32[] all-reduce(%x), replica_groups=mesh['a'=2,'b'=2], "
            "device_ids=(0,2,1,3) {'b'}, to_apply=%add",
            Collective("all-reduce", "s32[]", ((0, 2), (1, 3)), 4),
        ),
        (
            "%ar = s32[] all-reduce(%x), replica_groups=mesh['a'=2,'b'=2], "
            "device_ids=([2,2]T(1,0)) {'b'}, to_apply=%add",
            Collective("all-reduce", "s32[]", ((0, 2), (1, 3)), 4),
        ),
        (
            "%ags = (f32[4]{0}, f32[8]{0}) all-gather-start(%x), replica_groups={{0,1},{2,3}}",
            Collective("all-gather", "f32[8]", PAIRS, 32),
        ),
        (
            "%ar = f32[] all-reduce(%x), replica_groups={}, to_apply=%add",
            Collective("all-reduce", "f32[]", (), 4),
        ),
    ],
)
def test_a_collective_is_read(line: str, collective: Collective) -> None:
    assert read_collectives(f"ENTRY %main {{\n  {line}\n}}\n") == (collective,)


def test_other_instructions_are_no_collectives() -> None:
    text = """
      %all-reduce.done = f32[4]{0} all-reduce-done(%all-reduce.start)
      %fusion = f32[4]{0} fusion(%all-gather), kind=kLoop, calls=%all-gather_computation
    """
    assert read_collectives(text) == ()


def test_groups_in_an_unknown_form_are_an_error() -> None:
    with pytest.raises(Error, match="cannot read the replica groups"):
        read_collectives("  %ar = f32[] all-reduce(%x), replica_groups=new_form\n")
