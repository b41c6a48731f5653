// RUN: sdy-opt %s --sdy-from-gspmd | filecheck %s

// A tuple has a sharding for each leaf.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
// CHECK-SAME: -> (tensor<8xf32>, tensor<4xf32>)
func.func @main(%arg0: tuple<tensor<8xf32>, tensor<4xf32>> {mhlo.sharding = "{{devices=[2]<=[2]}, {replicated}}"}) -> tuple<tensor<8xf32>, tensor<4xf32>> {
  %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<8xf32>, tensor<4xf32>>) -> tensor<8xf32>
  // CHECK-NEXT: %[[CALL:.*]]:2 = stablehlo.custom_call @many(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}]>, <@mesh, [{}]>]>}
  %1 = stablehlo.custom_call @many(%0) {mhlo.sharding = "{{devices=[2]<=[2]}, {replicated}}"} : (tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<4xf32>>
  // CHECK-NEXT: return %[[CALL]]#0, %[[CALL]]#1
  return %1 : tuple<tensor<8xf32>, tensor<4xf32>>
}
