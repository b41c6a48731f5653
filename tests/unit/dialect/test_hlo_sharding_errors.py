"""Text that is no HloSharding: the message says where and what may stand there."""

from __future__ import annotations

import pytest

from sdy.dialect.errors import ParseError, VerifyError
from sdy.dialect.hlo_sharding import HloSharding


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected '{', found end of text"),
        ("{replicated", 12, "or '}', found end of text"),
        ("{maximal}", 9, "expected 'device', found '}'"),
        ("{devices=[2,2]<=[2,2]}", 22, "expected 'T', found '}'"),
        ("{devices=[8]<=[8] last}", 19, "'last_tile_dim_replicate', .* found 'l'"),
        ("{devices=[2]<=[2] last_tile_dims={foo}}", 35, "manual, replicated or unreduced"),
        ("{devices=[3]0,1}", 2, r"\[3\] has 3 places for 2 devices"),
        ("{devices=[2]0,0}", 2, "a device is listed twice"),
        ("{devices=[2]<=[4]}", 2, "differ in the number of devices"),
        ("{devices=[4]<=[2,2]T(0,0)}", 2, "no permutation of 2 dimensions"),
        ("{devices=[0]<=[0]}", 2, "no place for a device"),
        ("{devices=[2]<=[2] last_tile_dims={manual, manual}}", 2, "2 subgroups but 1 dimension"),
        ("{{replicated}, {devices=[3]0,1}}", 17, "3 places for 2 devices"),
    ],
)
def test_the_first_wrong_character_is_named(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        HloSharding.parse(text)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_lines_are_counted() -> None:
    with pytest.raises(ParseError) as caught:
        HloSharding.parse("{{replicated},\n {maximal device=x}}")
    assert (caught.value.line, caught.value.column) == (2, 18)


@pytest.mark.parametrize("text", ["{devices=[1099511627776,1]<=[1099511627776]}", "{replicated}"])
def test_more_devices_than_memory_has_room_for_are_not_listed(text: str) -> None:
    sharding = HloSharding.parse(text)
    assert sharding.is_equivalent(HloSharding.parse(text))
    with pytest.raises(VerifyError, match="of 1099511627776 devices is too large to list them"):
        sharding.device_slices((4, 4), 2**40)
