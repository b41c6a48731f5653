// RUN: sdy-opt %s --sdy-pre-order-funcs | filecheck %s

// Callers come before those that they call; declarations stay where they are.

// CHECK: func.func private @declared
// CHECK: func.func @main
// CHECK: func.func private @second
// CHECK: func.func private @first
// CHECK: func.func private @leaf

func.func private @leaf(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

func.func private @declared(tensor<8xf32>) -> tensor<8xf32>

func.func private @first(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @leaf(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @second(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @first(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @first(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @second(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
