// Every use of a constant, or of a broadcast of a scalar, gets its own.
//
// RUN: sdy-opt %s --split-input-file --sdy-constant-or-scalar-splitter | filecheck %s

// CHECK-LABEL: func @constant
func.func @constant() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.constant dense<1.0{{.*}}> : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = sdy.constant dense<1.0{{.*}}> : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A scalar cannot be sharded: it stays one. What nobody uses goes.
//
// CHECK-LABEL: func @scalar
func.func @scalar(%arg0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: %[[C:.*]] = sdy.constant
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %arg0, %[[C]]
  // CHECK-NEXT: return %[[C]], %[[R]]
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %unused = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

// The whole expression is copied; inside it the iota still has two uses.
//
// CHECK-LABEL: func @expression
func.func @expression(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[I0:.*]] = stablehlo.iota
  // CHECK-NEXT: %[[I1:.*]] = stablehlo.iota
  // CHECK-NEXT: %[[M0:.*]] = stablehlo.multiply %[[I0]], %[[I0]]
  // CHECK-NEXT: %[[M1:.*]] = stablehlo.multiply %[[I1]], %[[I1]]
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %[[M0]]
  // CHECK-NEXT: stablehlo.subtract %[[A]], %[[M1]]
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<8xf32>
  %2 = stablehlo.add %arg0, %1 : tensor<8xf32>
  %3 = stablehlo.subtract %2, %1 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @expansion
func.func @expansion(%arg0: tensor<f32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: stablehlo.add %[[A]], %[[B]]
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A copy of a member of a sharding group is a member.
//
// CHECK-LABEL: func @sharding_group
func.func @sharding_group() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[A]] group_id=7
  // CHECK-NEXT: %[[B:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[B]] group_id=7
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  sdy.sharding_group %0 group_id=7 : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call of a function of constant-preserving ops is a constant if its operands are; a copy of
// it calls a copy of the function.
//
// CHECK-LABEL: func @calls
func.func @calls(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK:      %[[A:.*]] = call @square_0(
  // CHECK:      %[[B:.*]] = call @square_1(
  // CHECK:      %[[S:.*]] = call @flip(
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %arg0, %[[A]]
  // CHECK-NEXT: %[[T:.*]] = stablehlo.add %[[S]], %[[S]]
  // CHECK-NEXT: %[[U:.*]] = stablehlo.add %[[R]], %[[B]]
  %0 = stablehlo.constant dense<3.0> : tensor<4xf32>
  %1 = call @square(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @flip(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.add %arg0, %1 : tensor<4xf32>
  %4 = stablehlo.add %2, %2 : tensor<4xf32>
  %5 = stablehlo.add %3, %1 : tensor<4xf32>
  return %4, %5 : tensor<4xf32>, tensor<4xf32>
}

func.func private @square(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @flip(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func private @square_0{{.*}}sdy.original_func_name = "square"
// CHECK: func private @square_1{{.*}}sdy.original_func_name = "square"
