// Composites are left alone, or followed into their decompositions and back.
//
// RUN: sdy-opt %s --sdy-basic-propagate | filecheck %s
// RUN: sdy-opt %s --sdy-basic-propagate=follow-composites=true | filecheck %s --check-prefix FOLLOW
// RUN: sdy-opt %s --sdy-propagation-pipeline='follow-composites=true' | filecheck %s --check-prefix PIPELINE

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @main
// CHECK-SAME:      %arg1: tensor<8x16xf32>) -> tensor<8x4xf32> {
// FOLLOW-LABEL: func @main
// FOLLOW-SAME:      %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) {
// PIPELINE-LABEL: func @main
// PIPELINE-SAME:    %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
func.func @main(
    %arg0: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %arg1: tensor<8x16xf32>) -> tensor<8x4xf32> {
  // CHECK:         stablehlo.composite "my.matmul" %arg0, %arg1 {decomposition = @matmul} :
  // FOLLOW:        stablehlo.composite "my.matmul" %arg0, %arg1 {decomposition = @matmul, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} :
  // PIPELINE:      stablehlo.composite "my.matmul" %arg0, %arg1 {decomposition = @matmul, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} :
  %0 = stablehlo.composite "my.matmul" %arg0, %arg1 {decomposition = @matmul} : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// FOLLOW-LABEL: func private @matmul(
// FOLLOW-SAME:      %arg0: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>},
// FOLLOW-SAME:      %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}
// FOLLOW-NEXT:    stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
func.func private @matmul(%arg0: tensor<4x16xf32>, %arg1: tensor<8x16xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.dot %arg1, %0 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x", ?}, {?}]> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
