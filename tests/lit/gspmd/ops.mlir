// RUN: sdy-opt %s --sdy-to-gspmd | filecheck %s

// What each op of the sdy dialect is to XLA's partitioner.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @reshard
func.func @reshard(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: mhlo.copy %arg0 {mhlo.sharding = "{devices=[2,4]<=[8]}"}
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @constraint
func.func @constraint(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: mhlo.copy %arg0 {mhlo.sharding = "{devices=[2,4]<=[8]}"}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<8xf32> {
  // CHECK: stablehlo.constant {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[GATHERED:.*]] = mhlo.copy %arg0 {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
  %0 = sdy.all_gather [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[SLICED:.*]] = mhlo.copy %[[GATHERED]] {mhlo.sharding = "{devices=[2,4]<=[8]}"}
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[SLICED]]
  return %1 : tensor<8x8xf32>
}

// The partitioner itself sums what a contraction leaves in parts.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @spent_by_propagation
func.func @spent_by_propagation(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
