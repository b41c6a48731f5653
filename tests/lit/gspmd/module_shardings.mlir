// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// What the module says of its entry's parameters and outputs is said in HloShardings too.

module attributes {
    sdy.output_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{}]>]>,
    sdy.parameters_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  // CHECK: module attributes {mhlo.spmd_output_sharding = "{{[{][{]}}devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}, {replicated}}", mhlo.spmd_parameters_shardings = ["{devices=[2,4]<=[8] last_tile_dim_replicate}", "{replicated}"]}

  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: return %arg0, %arg1 : tensor<8xf32>, tensor<8xf32>
  func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    return %arg0, %arg1 : tensor<8xf32>, tensor<8xf32>
  }
}
