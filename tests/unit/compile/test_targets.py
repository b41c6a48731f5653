"""How targets are written."""

from __future__ import annotations

import os
from importlib import util
from typing import TYPE_CHECKING

import jax
import pytest

from sdy.compile import topology
from sdy.compile.gpu import GPUS, gpu_backend
from sdy.compile.targets import backend_for
from sdy.compile.topology import default_environment
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def test_virtual_devices_are_numbered_and_shared() -> None:
    backend = backend_for("cpu:3")
    assert [device.id for device in backend.devices] == [0, 1, 2]
    assert backend_for("cpu:3") is backend


@pytest.mark.parametrize(
    "target",
    [
        *("", "cpu", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "npu:8"),
        *("tpu:", "tpu:v5e", "tpu:v5e:2xx4", "gpu:8", "gpu:k80:8", "gpu:h100:0", "gpu:h100"),
    ],
)
def test_a_target_that_is_not_understood_says_what_is(target: str) -> None:
    with pytest.raises(Error, match=f"unknown target '{target}': expected 'cpu:N'"):
        backend_for(target)


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("tpu:v4:2x2x1", r"pip install 'sdy\[tpu\]'"),
        ("gpu:h100:3", r"pip install 'sdy\[cuda12\]'"),
    ],
)
def test_a_missing_package_is_named_with_the_command(
    target: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        hidden = name.startswith(("libtpu", "jax_plugins"))
        return None if hidden else util.find_spec(name)

    monkeypatch.setattr(topology, "find_spec", find_spec)
    with pytest.raises(Error, match=f"target '{target}' needs a package .*: {command}"):
        backend_for(target)


def test_hosts_of_gpus_are_full() -> None:
    with pytest.raises(Error, match="expected up to 8 GPUs, or a multiple of 8"):
        gpu_backend("h100", 12)


def test_a_gpu_is_described_to_xla() -> None:
    text = GPUS["h100"].target_config()
    assert "major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES" in text
    assert "shared_memory_per_block_optin: 232448" in text
    assert "feature_extension: NONE" in GPUS["a100"].target_config()


def test_devices_are_a_target_in_their_order() -> None:
    devices = backend_for("cpu:4").devices
    backend = backend_for([devices[2], devices[0]])
    assert backend.devices == (devices[2], devices[0])
    assert backend.is_here
    assert backend.target == "cpu:2"


def test_devices_that_cannot_run_one_program_are_refused() -> None:
    device, other = backend_for("cpu:4").devices[0], jax.devices("cpu")[0]
    with pytest.raises(Error, match="expected one JAX device or more, got none"):
        backend_for([])
    with pytest.raises(Error, match="listed twice"):
        backend_for([device, device])
    with pytest.raises(Error, match="belong to several clients"):
        backend_for([device, other])
    with pytest.raises(Error, match="expected a target or JAX devices, got int"):
        backend_for([0, 1])


def test_variables_are_set_for_a_while_and_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDY_KEPT", "mine")
    with default_environment({"SDY_KEPT": "theirs", "SDY_NEW": "theirs"}):
        assert [os.environ.get(name) for name in ("SDY_KEPT", "SDY_NEW")] == ["mine", "theirs"]
    assert [os.environ.get(name) for name in ("SDY_KEPT", "SDY_NEW")] == ["mine", None]
