"""Machines: their names, their links, files that describe others."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdy
from sdy.explain.topologies import Link, parse_topology, topology

POD = """
name = "pod"
links = [
  {size = 4, shape = "ring", bandwidth = 1e9, latency = 1e-6},
  {size = 2, shape = "switch", bandwidth = 10e9, latency = 0},
]
"""


def test_a_torus_closes_to_rings_only_where_it_is_long_enough() -> None:
    small, large = topology("v5e:2x4"), topology("tpu:v5e:16x16")
    assert [link.shape for link in small.links] == ["line", "line"]
    assert large.links == (Link(16, "ring", 50e9, 1e-6),) * 2
    assert [link.shape for link in topology("v4:2x4x8").links] == ["line", "ring", "ring"]


def test_gpus_are_in_nodes_of_eight_on_a_network() -> None:
    assert topology("gpu:h100:8").links == (Link(8, "switch", 450e9, 2e-6),)
    network, inside = topology("b200:32").links
    assert (network.size, inside.size) == (4, 8)
    assert network.bandwidth < inside.bandwidth


def test_a_file_describes_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "pod.toml"
    path.write_text(POD)
    pod = topology(str(path))
    assert (pod.name, pod.size, pod.is_torus) == ("pod", 8, True)
    assert pod.links[1] == Link(2, "switch", 10e9, 0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("v5e:8", "expected v5e:XxY"),
        ("v4:2x2", "expected v4:XxYxZ"),
        ("h100:12", "whole nodes of 8"),
        ("v7:2x2", "there are v4:XxYxZ"),
        ("none.toml", "cannot read"),
        ("v5e:" + "1" * 5000 + "x1", "expected v5e:XxY"),
    ],
)
def test_unknown_machines(name: str, message: str) -> None:
    with pytest.raises(sdy.Error, match=message):
        topology(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=" + "[" * 5000, "nested too deep"),
        ("a=" + "9" * 5000, "limit"),
        ("links = ", "<text>"),
        ("name = 'x'", "'links' is missing"),
        ("links = []", "at least one link"),
        ("links = [1]", "expected a table"),
        (POD + "sise = 1", "unknown key 'sise'"),
        (POD.replace("1e9", "'fast'"), "'bandwidth' is of the wrong kind"),
        (POD.replace('"ring"', '"star"'), "'shape' is one of"),
        (POD.replace("size = 4", "size = 0"), "are positive"),
        (POD.replace("10e9", "inf"), "all finite"),
        (POD.replace("1e-6", "nan"), "all finite"),
        (POD.replace("size = 4, ", ""), "'size' is missing"),
    ],
)
def test_files_that_are_not_right(text: str, message: str) -> None:
    with pytest.raises(sdy.Error, match=message):
        parse_topology(text)
