"""Programs that are compiled ahead of time, and the targets."""

from __future__ import annotations

from tests.corpus.jax_programs import PROGRAMS

__all__ = ["COMPILED", "DIFFERENT", "MATMUL", "TARGETS"]

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

# Lowered for CPU, with calls into LAPACK, which XLA refuses both ways.
_NOT_FOR_ALL = {"linear_algebra"}

COMPILED = tuple(name for name in PROGRAMS if name not in _NOT_FOR_ALL)

# Where XLA's partitioner makes other exchanges of our shardings than of those of its own Shardy,
# and why: the compiler for TPUs rewrites programs before it partitions them. Shardy then finds
# shardings for what it made; ours were found before, and of those it keeps or drops some.
DIFFERENT = {
    "tpu:v5e:2x4": {
        "fft_round_trip": "Fourier transforms become products with matrices",
        "sort_and_top_k": "top-k becomes a sort of all and a slice",
        "train_step_scanned_with_remat": (
            "where projections are split into small heads, the weights are, not the activations, "
            "and get the sharding that the activations had"
        ),
    },
    "gpu:h100:8": {},
}
