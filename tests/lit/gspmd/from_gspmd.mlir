// RUN: sdy-opt %s --sdy-from-gspmd | filecheck %s

// One mesh serves all shardings; each says the same of every device as before.

// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=2, "_axis_2"=2]>
// CHECK: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x16xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}, {"_axis_1", "_axis_2"}]>}
// CHECK-SAME: %arg1: tensor<8x16xf32>)
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0", "_axis_1"}, {"_axis_2"}]>})
func.func @main(
    %arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}", jax.buffer_donor = true},
    %arg1: tensor<8x16xf32>)
    -> (tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"}) {
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_1", "_axis_2"}, {}]>]>}
  %0 = stablehlo.add %arg0, %arg1 {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : tensor<8x16xf32>
  // CHECK: %[[KEPT:.*]] = sdy.sharding_constraint %[[SUM]] <@mesh, [{"_axis_0"}, {?}]>
  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: sdy.reshard %[[KEPT]] <@mesh, [{}, {}]>
  %2 = mhlo.copy %1 {mhlo.sharding = "{replicated}"} : tensor<8x16xf32>
  // CHECK: stablehlo.create_token {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>}
  %3 = stablehlo.create_token {mhlo.sharding = "{maximal device=3}"} : !stablehlo.token
  return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @several_results
func.func @several_results(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.custom_call @two(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}]>, <@mesh, [{?}]>]>}
  %0:2 = stablehlo.custom_call @two(%arg0) {mhlo.sharding = "{{devices=[2,4]<=[8] last_tile_dim_replicate}, {unknown}}"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
