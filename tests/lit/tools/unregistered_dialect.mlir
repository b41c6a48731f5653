// Ops of dialects that MLIR does not know are kept where they are allowed, and refused elsewhere.
//
// RUN: sdy-opt %s --allow-unregistered-dialect --cse | filecheck %s
// RUN: not sdy-opt %s 2>&1 | filecheck %s --check-prefix REFUSED

// REFUSED: unregistered dialect
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %0 = "mine.op"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "mine.op"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
