// RUN: sdy-opt %s --sdy-insert-func-call-reshards | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // The call yields what the function does, and what was asked for comes from a reshard.
  // CHECK-NEXT: %0:2 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y", ?}]>]>}
  // CHECK-NEXT: %1 = sdy.reshard %0#0 <@mesh, [{"y"}]> : tensor<8xf32>
  %0:2 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // A call without shardings asks for values that are not split.
  // CHECK-NEXT: %2:2 = call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y", ?}]>]>}
  // CHECK-NEXT: %3 = sdy.reshard %2#1 <@mesh, [{}]> : tensor<8xf32>
  // CHECK-NEXT: %4 = sdy.reshard %2#0 <@mesh, [{}]> : tensor<8xf32>
  %1:2 = call @f(%0#0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: return %4, %3
  return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @f(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>}) {
  return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
}
