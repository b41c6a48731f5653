// Equal constants, and equal broadcasts of one scalar, become one if they are sharded alike.
//
// RUN: sdy-opt %s --sdy-constant-or-scalar-merger | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @constants
func.func @constants() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.constant dense<1.0{{.*}}>
  // CHECK-NEXT: %[[B:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0{{.*}}>
  // CHECK-NEXT: %[[C:.*]] = sdy.constant dense<2.0{{.*}}>
  // CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]]
  %0 = sdy.constant dense<1.0> : tensor<4xf32>
  %1 = sdy.constant dense<1.0> : tensor<4xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<4xf32>
  %3 = sdy.constant dense<2.0> : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The scalars are merged first, so these broadcasts are of one scalar. Other broadcasts stay.
//
// CHECK-LABEL: func @broadcasts
func.func @broadcasts(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = sdy.constant
  // CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<f32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: %[[D:.*]] = stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = sdy.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %5 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %6 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  return %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Nothing is moved into or out of a region.
//
// CHECK-LABEL: func @regions
func.func @regions(%arg0: tensor<i32>) -> tensor<i32> {
  // CHECK:     sdy.constant
  // CHECK:     "stablehlo.case"
  // CHECK:       sdy.constant
  // CHECK-NOT:   sdy.constant
  // CHECK:     }, {
  // CHECK:       sdy.constant
  %0 = sdy.constant dense<1> : tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    %2 = sdy.constant dense<1> : tensor<i32>
    %3 = sdy.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %2, %3 : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }, {
    %2 = sdy.constant dense<1> : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}
