// RUN: sdy-opt %s --sdy-import-pipeline | filecheck %s
// RUN: sdy-opt %s --sdy-import-pipeline='dedup-functions-fully=true' | filecheck %s --check-prefixes CHECK,DEDUP
// RUN: sdy-opt %s --sdy-import-pipeline --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix PASSES

// PASSES: builtin.module(symbol-dce,sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,sdy-manual-axes-cleanup,sdy-add-data-flow-edges)

// CHECK: sdy.mesh @mesh = <["x"=2, "one"=1]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "one"=1]>, [{"x", "one"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-DAG: sdy.constant dense<1.000000e+00> : tensor<8xf32>
  // CHECK-DAG: sdy.constant dense<1.000000e+00> : tensor<8xf32>
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<8xf32>
  %2 = stablehlo.multiply %arg0, %0 : tensor<8xf32>
  // CHECK: sdy.data_flow_edge
  %3 = stablehlo.optimization_barrier %1 : tensor<8xf32>
  // Sharding groups wait until functions are flattened.
  // DEDUP: sdy.sharding_group %{{.*}} group_id=0
  sdy.sharding_group %2 group_id=9 : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-NOT: @unused
func.func private @unused(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
