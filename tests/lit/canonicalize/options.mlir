// RUN: sdy-opt %s --canonicalize='enable-patterns=sdy-reshard' | filecheck %s --check-prefix=RESHARD
// RUN: sdy-opt %s --canonicalize='enable-patterns=sdy-collective' | filecheck %s --check-prefix=COLLECTIVE
// RUN: sdy-opt %s --canonicalize='disable-patterns=sdy-reshard,sdy-collective' | filecheck %s --check-prefix=NEITHER
// RUN: sdy-opt %s --canonicalize='filter-dialects=stablehlo' | filecheck %s --check-prefix=NEITHER
// RUN: sdy-opt %s --canonicalize='enable-patterns=all-gather-noop' | filecheck %s --check-prefix=COLLECTIVE
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=0}))' | filecheck %s --check-prefix=NOTHING
// RUN: not sdy-opt %s --canonicalize='max-num-rewrites=3' 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not sdy-opt %s --canonicalize='cse-between-iterations=true' 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not sdy-opt %s --canonicalize='max-iterations=1 test-convergence=true' 2>&1 | filecheck %s --check-prefix=CONVERGE

// Which patterns are used is an option; dead ops and constants are seen to in any case.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// RESHARD-LABEL:    func.func @main
// RESHARD-NEXT:       stablehlo.constant dense<1.000000e+00>
// RESHARD-NEXT:       sdy.all_gather [{}]
// RESHARD-NEXT:       sdy.reshard %{{.*}} <@mesh, [{}]>
// RESHARD-NEXT:       stablehlo.add

// COLLECTIVE-LABEL: func.func @main
// COLLECTIVE-NEXT:    stablehlo.constant dense<1.000000e+00>
// COLLECTIVE-NEXT:    sdy.reshard %arg0 <@mesh, [{"y"}]>
// COLLECTIVE-NEXT:    sdy.reshard %{{.*}} <@mesh, [{}]>
// COLLECTIVE-NEXT:    stablehlo.add

// NEITHER-LABEL:    func.func @main
// NEITHER-NEXT:       stablehlo.constant dense<1.000000e+00>
// NEITHER-NEXT:       sdy.all_gather [{}]
// NEITHER-NEXT:       sdy.reshard %{{.*}} <@mesh, [{"y"}]>
// NEITHER-NEXT:       sdy.reshard %{{.*}} <@mesh, [{}]>
// NEITHER-NEXT:       stablehlo.add

// NOTHING-LABEL:    func.func @main
// NOTHING-NEXT:       sdy.all_gather [{}]
// NOTHING:            stablehlo.negate

// REFUSED: error: canonicalize cannot {{.*}} where it rewrites sdy ops
// CONVERGE: error: canonicalize did not converge in 1 iterations
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  %3 = stablehlo.negate %2 : tensor<8xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %5 = stablehlo.add %2, %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}
