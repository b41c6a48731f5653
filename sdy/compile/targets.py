"""What programs can be compiled for, and how each target is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.compile.attached import attached_backend
from sdy.compile.cpu import cpu_backend
from sdy.dialect.errors import Error, check_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import jax

    from sdy.compile.backend import Backend

__all__ = ["PLATFORMS", "Platform", "backend_for"]


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of device.

    Attributes:
      form: how a target of this kind is written.
      meaning: what such a target is.
      pattern: what may stand behind the colon.
      open: from the match of that to the devices and their compiler.

    """

    form: str
    meaning: str
    pattern: re.Pattern[str]
    open: Callable[[re.Match[str]], Backend]


def _tpu(match: re.Match[str]) -> Backend:
    from sdy.compile.tpu import tpu_backend

    return tpu_backend(match[0])


def _gpu(match: re.Match[str]) -> Backend:
    from sdy.compile.gpu import gpu_backend

    return gpu_backend(match["model"], int(match["count"]))


PLATFORMS: Mapping[str, Platform] = {
    "cpu": Platform(
        form="cpu:N",
        meaning="N virtual devices on the CPU of this machine",
        pattern=re.compile(r"[1-9][0-9]{0,4}"),
        open=lambda match: cpu_backend(int(match[0])),
    ),
    "tpu": Platform(
        form="tpu:v5e:2x4",
        meaning="a TPU topology that libtpu knows, ahead of time",
        pattern=re.compile(r"[a-z0-9]+:[0-9]+(x[0-9]+)*(_twisted|_untwisted)?"),
        open=_tpu,
    ),
    "gpu": Platform(
        form="gpu:h100:N",
        meaning="N GPUs, a100, h100, h200 or b200, ahead of time",
        pattern=re.compile(r"(?P<model>a100|h100|h200|b200):(?P<count>[1-9][0-9]{0,4})"),
        open=_gpu,
    ),
}


def backend_for(target: str | Sequence[jax.Device]) -> Backend:
    """Return the devices that `target` names or lists, with their compiler.

    Raises:
      Error: if `target` is not understood; the message says which targets are.

    """
    check_type(target, Iterable, "target", "a str such as 'cpu:8', or JAX devices")
    if not isinstance(target, str):
        return attached_backend(target)
    name, _, rest = target.partition(":")
    platform = PLATFORMS.get(name)
    match = platform and platform.pattern.fullmatch(rest)
    if not platform or not match:
        known = "; ".join(f"'{p.form}' ({p.meaning})" for p in PLATFORMS.values())
        raise Error(f"unknown target '{target}': expected {known}; or a list of JAX devices")
    return platform.open(match)
