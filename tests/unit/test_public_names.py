"""The names of the package."""

from __future__ import annotations

import pytest

import sdy

EAGER = {"compile", "explain", "jit", "load_executable"}


@pytest.mark.parametrize("name", sdy.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(sdy, name) is not None
    assert name in dir(sdy)


def test_public_names_are_those_imported_at_once_and_those_when_asked_for() -> None:
    assert sorted(sdy.__all__) == sorted(EAGER | set(sdy._MODULES))
    assert len(set(sdy.__all__)) == len(sdy.__all__)
    assert set(vars(sdy)) >= EAGER


def test_another_name_is_refused_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'sdy' has no attribute 'shard'"):
        sdy.shard  # noqa: B018
