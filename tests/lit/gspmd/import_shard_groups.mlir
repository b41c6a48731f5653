// RUN: sdy-opt %s --sdy-from-gspmd | filecheck %s

// What is to be sharded as other tensors is in a sharding group with them.

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"}, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[AS:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{?}]>
  // CHECK-NEXT: sdy.sharding_group %[[AS]] group_id=4
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{unknown shard_as 4}"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  // CHECK-NEXT: sdy.sharding_group %[[NEGATE]] group_id=4
  %1 = stablehlo.negate %arg1 {mhlo.sharding = "{replicated shard_as 4}"} : tensor<8xf32>
  // CHECK-NEXT: return %[[AS]], %[[NEGATE]]
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
