"""Programs compiled for TPUs and GPUs on a machine that has neither."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType

import sdy
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error
from sdy.tools.demo_model import Size, lower_train_step
from tests.targets.programs import MATMUL, TARGETS

GROUPS = ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize("target", TARGETS)
def test_the_program_can_be_looked_at(target: str) -> None:
    program = sdy.compile(MATMUL, target)
    assert program.target == target
    assert "num_partitions=8" in program.hlo_text()
    [all_reduce] = program.collectives()
    assert (all_reduce.kind, all_reduce.shape) == ("all-reduce", "f32[128,256]")
    assert all_reduce.groups == GROUPS
    memory, cost = program.memory(), program.cost()
    assert memory.arguments == 4 * (128 * 64 + 64 * 256)
    assert memory.results == 4 * 128 * 256
    assert cost.flops >= 2 * 128 * 64 * 256
    assert cost.bytes_accessed >= memory.arguments + memory.results


@pytest.mark.parametrize("target", TARGETS)
def test_the_program_cannot_be_called(target: str) -> None:
    program = sdy.compile(MATMUL, target)
    array = np.ones((256, 256), np.float32)
    with pytest.raises(Error, match=f"was compiled ahead of time for '{target}'"):
        program(array, array)


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_saved_for_machines_that_have_such_devices(target: str, tmp_path: Path) -> None:
    sdy.compile(MATMUL, target).save(tmp_path / "program")
    assert (tmp_path / "program").stat().st_size > 1000
    with pytest.raises(Error, match="load it where such devices are"):
        sdy.load_executable(tmp_path / "program")
    with pytest.raises(Error, match=r"was compiled for '[tg]pu', and the devices are 'cpu'"):
        sdy.load_executable(tmp_path / "program", "cpu:8")


@pytest.mark.parametrize(
    ("target", "count"),
    [
        ("tpu:v5p:2x2x2", 8),
        ("tpu:v6e:4x4", 16),
        ("tpu:v4:2x2x1", 8),  # two cores a chip
        ("tpu:v5p:8x16x16", 2048),
        ("gpu:a100:4", 4),
        ("gpu:h200:8", 8),
        ("gpu:b200:16", 16),
    ],
)
def test_devices_are_numbered_from_zero(target: str, count: int) -> None:
    backend = backend_for(target)
    assert [device.id for device in backend.devices] == list(range(count))
    assert not backend.is_here


@pytest.mark.parametrize("model", ["a100", "h100", "h200", "b200"])
def test_each_gpu_compiles(model: str) -> None:
    [all_reduce] = sdy.compile(MATMUL, f"gpu:{model}:8").collectives()
    assert all_reduce.groups == GROUPS


def test_a_topology_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Error, match=r"libtpu knows no topology 'v9:2x2': .*TPU v9"):
        sdy.compile(MATMUL, "tpu:v9:2x2")


def test_devices_of_a_topology_are_a_target() -> None:
    devices = backend_for("tpu:v5e:2x4").devices
    assert sdy.compile(MATMUL, devices).target == "tpu:8"


def test_jax_may_have_been_used_before_and_after() -> None:
    script = (
        "import sys, jax, sdy\n"
        "here = jax.devices()\n"
        "for target in sys.argv[2:]: sdy.compile(sys.argv[1], target)\n"
        "assert jax.devices() == here\n"
        "assert float(jax.jit(lambda x: x + 1)(1.0)) == 2.0\n"
    )
    command = [sys.executable, "-c", script, MATMUL, *TARGETS]
    root = Path(__file__).resolve().parents[2]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_jit_compiles_for_devices_that_are_not_here(target: str) -> None:
    function = sdy.jit(lambda x: (x @ x.T).sum(), target=target)
    executable = function.compile(jax.ShapeDtypeStruct((64, 64), np.float32))
    assert executable.num_devices == 8
    assert executable.collectives() == ()


def test_a_train_step_for_two_thousand_chips() -> None:
    mesh = AbstractMesh((16, 8, 16), ("data", "fsdp", "model"), (AxisType.Auto,) * 3)
    size = Size(layers=2, batch=32, sequence=64, width=256, heads=16, vocabulary=512)
    program = sdy.compile(lower_train_step(size, mesh), "tpu:v5p:8x16x16")
    assert program.num_devices == 2048
    assert "all-reduce" in {collective.kind for collective in program.collectives()}
    assert {len(group) for each in program.collectives() for group in each.groups} <= {
        *(2**i for i in range(12))
    }
    whole = 4 * sum(int(np.prod(shape)) for shape in size.parameters().values())
    assert program.memory().arguments < whole / 8
