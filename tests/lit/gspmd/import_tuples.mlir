// RUN: sdy-opt %s --stablehlo-ext-canonicalize-from-hlo-import | filecheck %s

// Tuples of arguments, results, calls, loops and custom calls become many values.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[MANY:.*]]:2 = stablehlo.custom_call @many(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %arg1, %[[MANY]]#1 : tensor<4xf32>
// CHECK-NEXT: return %arg0, %[[ADD]] : tensor<8xf32>, tensor<4xf32>
func.func @main(%arg0: tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<8xf32>, tensor<4xf32>> {
  %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tensor<8xf32>
  %1 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @many(%0) : (tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<4xf32>>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<8xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %5 = stablehlo.add %2, %4 : tensor<4xf32>
  %6 = stablehlo.tuple %0, %5 : tuple<tensor<8xf32>, tensor<4xf32>>
  return %6 : tuple<tensor<8xf32>, tensor<4xf32>>
}
