"""NVIDIA GPUs, compiled for ahead of time by JAX's CUDA plugin, without a driver or a GPU.

XLA reads what it must know of a GPU from a `stream_executor.GpuTargetConfigProto`, in the text
form of protocol buffers. The figures are those of the SXM form of each GPU, as the files
`xla/backends/gpu/target_config/specs` of openxla/xla have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jax.experimental.topologies import get_topology_desc

from sdy.compile.topology import default_environment, require_package, topology_backend
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from sdy.compile.backend import Backend

__all__ = ["GPUS", "Gpu", "gpu_backend"]

_GPUS_A_HOST = 8
_PLUGINS = ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13")
# The plugin else looks for the CUDA libraries, and without them does not register itself.
_ENVIRONMENT = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"}


@dataclass(frozen=True, slots=True)
class Gpu:
    """A model of GPU, as XLA's compiler sees it.

    Attributes:
      name: of the product.
      capability: CUDA's compute capability, major and minor.
      cores: streaming multiprocessors.
      fpus_per_core: 32-bit units in each of those.
      shared_memory_per_core: in bytes.
      memory: in bytes.
      memory_bandwidth: in bytes a second.
      l2_cache: in bytes.
      clock_ghz: the highest clock rate.
      has_accelerated_features: whether code is made for this very architecture (`sm_90a`).

    """

    name: str
    capability: tuple[int, int]
    cores: int
    fpus_per_core: int
    shared_memory_per_core: int
    memory: int
    memory_bandwidth: int
    l2_cache: int
    clock_ghz: float
    has_accelerated_features: bool

    def target_config(self) -> str:
        """Return XLA's description of this GPU."""
        major, minor = self.capability
        features = "ACCELERATED_FEATURES" if self.has_accelerated_features else "NONE"
        return f"""
            platform_name: "CUDA"
            device_description_str: "{self.name}"
            dnn_version_info {{ major: 9 minor: 10 }}
            gpu_device_info {{
              cuda_compute_capability {{
                major: {major} minor: {minor} feature_extension: {features}
              }}
              core_count: {self.cores}
              fpus_per_core: {self.fpus_per_core}
              clock_rate_ghz: {self.clock_ghz}
              device_memory_size: {self.memory}
              memory_bandwidth: {self.memory_bandwidth}
              l2_cache_size: {self.l2_cache}
              shared_memory_per_core: {self.shared_memory_per_core}
              shared_memory_per_block: {48 << 10}
              shared_memory_per_block_optin: {self.shared_memory_per_core - (1 << 10)}
              threads_per_warp: 32
              threads_per_block_limit: 1024
              threads_per_core_limit: 2048
              registers_per_block_limit: 65536
              registers_per_core_limit: 65536
              block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
              thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 thread_dim_limit_z: 64
              driver_version: "12.8.0"
              runtime_version: "12.8.0"
              compile_time_toolkit_version: "12.8.0"
              dnn_version: "9.10.0"
            }}
        """


GPUS = {
    "a100": Gpu(
        "NVIDIA A100-SXM4-80GB",
        capability=(8, 0),
        cores=108,
        fpus_per_core=64,
        shared_memory_per_core=164 << 10,
        memory=85_100_068_864,
        memory_bandwidth=2_039_040_000_000,
        l2_cache=40 << 20,
        clock_ghz=1.41,
        has_accelerated_features=False,
    ),
    "h100": Gpu(
        "NVIDIA H100 80GB HBM3",
        capability=(9, 0),
        cores=132,
        fpus_per_core=128,
        shared_memory_per_core=228 << 10,
        memory=84_942_979_072,
        memory_bandwidth=3_352_320_000_000,
        l2_cache=50 << 20,
        clock_ghz=1.98,
        has_accelerated_features=True,
    ),
    "h200": Gpu(
        "NVIDIA H200 141GB HBM3e",
        capability=(9, 0),
        cores=132,
        fpus_per_core=128,
        shared_memory_per_core=228 << 10,
        memory=151_397_597_184,
        memory_bandwidth=4_800_000_000_000,
        l2_cache=50 << 20,
        clock_ghz=1.98,
        has_accelerated_features=True,
    ),
    "b200": Gpu(
        "NVIDIA B200",
        capability=(10, 0),
        cores=148,
        fpus_per_core=128,
        shared_memory_per_core=228 << 10,
        memory=191_514_411_008,
        memory_bandwidth=7_672_320_000_000,
        l2_cache=132_644_864,
        clock_ghz=1.965,
        has_accelerated_features=True,
    ),
}


@lru_cache(maxsize=8)
def gpu_backend(model: str, count: int) -> Backend:
    """Return that many GPUs of a model in `GPUS`: one host up to eight, else hosts of eight.

    Raises:
      Error: if the CUDA plugin is not installed or refuses, or if hosts would not be full.

    """
    target = f"gpu:{model}:{count}"
    if count > _GPUS_A_HOST and count % _GPUS_A_HOST:
        raise Error(f"target '{target}': expected up to 8 GPUs, or a multiple of 8")
    require_package(_PLUGINS, target, "cuda12")
    per_host = min(count, _GPUS_A_HOST)
    try:
        devices = _devices(
            target_config=GPUS[model].target_config(),
            topology=f"1x{count // per_host}x{per_host}",
        )
    except (RuntimeError, NotImplementedError) as error:
        raise Error(f"JAX's CUDA plugin cannot compile for '{target}': {error}") from error
    return topology_backend(devices, target)


def _devices(**options: str) -> Any:
    with default_environment(_ENVIRONMENT):
        try:
            return get_topology_desc(platform="cuda", **options).devices
        except NotImplementedError:
            # The plugin did not register itself when jax was first used: see _ENVIRONMENT.
            _register_plugin()
            return get_topology_desc(platform="cuda", **options).devices


def _register_plugin() -> None:
    for name in _PLUGINS:
        try:
            import_module(name).initialize()
        except ModuleNotFoundError:
            continue
        return
