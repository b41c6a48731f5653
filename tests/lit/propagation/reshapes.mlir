// Axes are split and joined where a reshape splits and merges dimensions.
//
// RUN: sdy-opt %s --split-input-file --sdy-basic-propagate | filecheck %s

sdy.mesh @mesh_x = <["x"=4]>

// CHECK-LABEL: func @splits_an_axis
func.func @splits_an_axis(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_x, [{"x"}]>}) -> tensor<2x4xf32> {
  // CHECK: stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x, [{"x":(1)2, ?}, {"x":(2)2, ?}]>]>}
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

sdy.mesh @mesh_x = <["x"=4]>

// CHECK-LABEL: func @joins_sub_axes
func.func @joins_sub_axes(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh_x, [{"x":(1)2}, {"x":(2)2}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x, [{"x", ?}]>]>}
  %0 = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=3]>

// 3 does not divide the first factor: "y" goes no further, and stays with the argument.
//
// CHECK-LABEL: func @axis_that_does_not_divide
// CHECK-SAME:    [{"x", "y"}]
func.func @axis_that_does_not_divide(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<4x2xf32> {
  // CHECK: stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @uneven
func.func @uneven(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  // CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  %0 = stablehlo.tanh %arg0 : tensor<6xf32>
  return %0 : tensor<6xf32>
}
