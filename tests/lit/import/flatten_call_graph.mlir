// RUN: sdy-opt %s --sdy-flatten-call-graph | filecheck %s

// The first call of a function keeps it; a second one gets a clone, with clones of all below.

// CHECK-LABEL: func.func @main
// CHECK: call @outer(
// CHECK: call @outer_1(
// CHECK: call @inner_2(
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @outer(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @outer(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @inner(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @outer(
// CHECK-NOT: original_func_name
// CHECK: call @inner(
func.func private @outer(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @inner(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @inner(
func.func private @inner(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @inner_0(
// CHECK-SAME: attributes {sdy.original_func_name = "inner"}
// CHECK-LABEL: func.func private @outer_1(
// CHECK-SAME: attributes {sdy.original_func_name = "outer"}
// CHECK: call @inner_0(
// CHECK-LABEL: func.func private @inner_2(
// CHECK-SAME: attributes {sdy.original_func_name = "inner"}
