// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// The partitioner neither makes nor ends partial sums: code that works on shards does.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @end
// CHECK-SAME: {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}"}
func.func @end(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[IN:.*]] = mhlo.copy %arg0 {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}"}
  // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.custom_call @SPMDFullToShardShape(%[[IN]]) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: %[[SUM:.*]] = call @xla.sdy.inlinable_manual_computation_body(%[[LOCAL]]) {mhlo.sharding = "{manual}"}
  // CHECK-NEXT: %[[OUT:.*]] = mhlo.copy %[[SUM]] {mhlo.sharding = "{manual}"}
  // CHECK-NEXT: %[[GLOBAL:.*]] = stablehlo.custom_call @SPMDShardToFullShape(%[[OUT]]) {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
  // CHECK-NEXT: return %[[GLOBAL]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func @scatter(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) -> tensor<8x16xf32> {
  %0 = sdy.reduce_scatter [{}, {"x"}] %arg0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func @begin(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x16xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{}, {"x"}], unreduced={"y"}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func @begin_with_shards(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x16xf32> {
  %0 = sdy.sharded_to_unreduced [{}, {"x"}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// The sum of a contraction over a dimension that is split is the partitioner's.
// CHECK-LABEL: func.func @left_to_the_partitioner
func.func @left_to_the_partitioner(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body(
// CHECK: "stablehlo.all_reduce"(%arg0)
// CHECK-SAME: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids
// CHECK: (tensor<2x16xf32>) -> tensor<2x16xf32>

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_0(
// CHECK: "stablehlo.reduce_scatter"(%arg0)
// CHECK-SAME: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids
// CHECK: (tensor<2x16xf32>) -> tensor<2x8xf32>

// Of the replicas, the first has the tensor and the others have zeros.
// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_1(
// CHECK: stablehlo.partition_id
// CHECK: %[[ZERO:.*]] = stablehlo.constant {mhlo.sharding = "{manual}"} dense<0> : tensor<i32>
// CHECK: %[[IS_FIRST:.*]] = stablehlo.compare EQ, %{{.*}}, %[[ZERO]]
// CHECK: %[[ZEROS:.*]] = stablehlo.broadcast
// CHECK: stablehlo.select %[[IS_FIRST]], %arg0, %[[ZEROS]]

// Every device has its shard, in zeros.
// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_2(
// CHECK: %[[ZEROS:.*]] = stablehlo.broadcast
// CHECK: stablehlo.dynamic_update_slice %[[ZEROS]], %arg0,
