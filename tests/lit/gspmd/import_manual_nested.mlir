// RUN: sdy-opt %s --sdy-from-gspmd | filecheck %s

// A body that is in two computations, and has one in it.

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[FIRST:.*]] = sdy.manual_computation(%arg0) {{.*}} manual_axes={"_axis_0"}
  // CHECK-NEXT: sdy.manual_computation({{.*}} manual_axes={"_axis_1"}
  // CHECK-NEXT: stablehlo.negate
  // CHECK: sdy.manual_computation(%[[FIRST]]) {{.*}} manual_axes={"_axis_0"}
  // CHECK-NEXT: sdy.manual_computation({{.*}} manual_axes={"_axis_1"}
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NOT: func.func
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = call @body(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %6 = call @body(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

func.func private @body(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %2 = call @inner(%1) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : (tensor<4x2xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

func.func private @inner(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.negate %arg0 : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
