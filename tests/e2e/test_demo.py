"""The demo shows what it says it shows, and fails where there is nothing to show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sdy.compile.collectives import Collective
from sdy.tools import demo
from sdy.tools.demo import DemoError, Report, check, run
from sdy.tools.demo_model import Size

SMALL = Size(layers=1, batch=4, sequence=8, width=16, heads=2, vocabulary=16)

GOOD = Report(
    ops=10,
    tensors=10,
    sharded_before=1,
    sharded_after=9,
    collectives=(Collective("all-reduce", "f32[]", (), 4),),
    distinct_shards=8,
    difference=1e-7,
    seconds={},
)


def test_a_train_step_is_split_over_all_devices_and_its_numbers_are_right() -> None:
    report = run(SMALL)
    check(report)
    assert report.sharded_after > 10 * report.sharded_before


def test_it_fails_when_propagation_does_nothing() -> None:
    report = run(SMALL, propagate=lambda module: module)
    assert report.sharded_after == report.sharded_before
    with pytest.raises(DemoError, match="of 8 devices hold results of their own"):
        check(report)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (replace(GOOD, difference=2e-4), "the results differ by 2.0e-04"),
        (replace(GOOD, difference=float("nan")), "the results differ by nan"),
        (replace(GOOD, collectives=()), "no collectives"),
        (replace(GOOD, distinct_shards=4), "only 4 of 8 devices"),
    ],
)
def test_it_fails_when_there_is_nothing_to_show(report: Report, message: str) -> None:
    check(GOOD)
    with pytest.raises(DemoError, match=message):
        check(report)


def test_the_exit_status_says_whether_it_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "run", lambda _: GOOD)
    assert demo.main() == 0
    assert "8 of 8" in capsys.readouterr().out
    monkeypatch.setattr(demo, "run", lambda _: replace(GOOD, collectives=()))
    assert demo.main() == 1
    assert "demo failed: the compiled program has no collectives" in capsys.readouterr().err
