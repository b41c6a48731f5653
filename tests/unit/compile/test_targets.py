"""How targets are written."""

from __future__ import annotations

import pytest

from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error


def test_virtual_devices_are_numbered_and_shared() -> None:
    backend = backend_for("cpu:3")
    assert [device.id for device in backend.devices] == [0, 1, 2]
    assert backend_for("cpu:3") is backend


@pytest.mark.parametrize("target", ["", "cpu", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "npu:8"])
def test_a_target_that_is_not_understood_says_what_is(target: str) -> None:
    with pytest.raises(Error, match=f"unknown target '{target}': expected 'cpu:N'"):
        backend_for(target)
