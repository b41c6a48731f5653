// RUN: sdy-opt %s --sdy-remove-all-gather-reduce-scatter-for-cmv1 | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The dot gathers by itself, so what is scattered after it stays.
// CHECK-LABEL: func.func @gathered
// CHECK-NEXT:    %0 = stablehlo.dot %arg0, %arg1
// CHECK-NEXT:    %1 = sdy.reduce_scatter
// CHECK-NEXT:    return %1
func.func @gathered(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = stablehlo.dot %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{"y"}, {}] %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// The dot scatters by itself: its result is sharded as the scattered one was.
// CHECK-LABEL: func.func @scattered
// CHECK-NEXT:    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
// CHECK-NEXT:    return %0
func.func @scattered(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reduce_scatter [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Others need what was gathered, too.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    %0 = sdy.all_gather
// CHECK-NEXT:    stablehlo.dot %0, %arg1
func.func @shared(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.dot %0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
