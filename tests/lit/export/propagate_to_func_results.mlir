// RUN: sdy-opt %s --sdy-propagate-to-func-results --split-input-file | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The results of the main function are the user's.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> tensor<8xf32> {
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @f
// CHECK-SAME: -> (tensor<8xf32> {jax.result_info = "a", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>)
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {jax.result_info = "a"}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %arg0, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A function that stands alone is the main one.
// CHECK-LABEL: func.func @alone
// CHECK-SAME: -> tensor<8xf32> {
func.func @alone(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
