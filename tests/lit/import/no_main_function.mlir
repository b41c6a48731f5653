// Of several functions one must be the main one.
//
// RUN: not sdy-opt %s --sdy-add-func-data-flow-edges 2>&1 | filecheck %s
//
// CHECK: error: the module has 2 functions and none is named @main
func.func @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

func.func @g(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
