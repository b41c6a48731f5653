"""Programs that are compiled ahead of time, and the targets."""

from __future__ import annotations

from tests.corpus.jax_programs import PROGRAMS

__all__ = ["COMPILED", "EQUAL", "MATMUL", "TARGETS"]

TARGETS = ("tpu:v5e:2x4", "gpu:h100:8")

MATMUL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %arg0: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %arg0, %arg1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
"""

# Lowered for CPU, with calls into LAPACK, and manual computations, which have no image in GSPMD.
_NOT_FOR_ALL = {"linear_algebra", "shard_map_full", "shard_map_partial"}

COMPILED = tuple(name for name in PROGRAMS if name not in _NOT_FOR_ALL)

# Where XLA's partitioner chooses the same collectives for our shardings as for those of its own
# Shardy, on all targets. The others compile too, to some other collectives on some target.
EQUAL = (
    "attention_forward",
    "constraints_in_chains",
    "convolution_net",
    "cumulative_sums",
    "decoding_with_cache",
    "gather_and_scatter",
    "mixture_of_experts",
    "nested_jit",
    "optimization_barrier",
    "random_bits",
    "reshapes_that_split_and_merge",
    "shard_alike",
)
