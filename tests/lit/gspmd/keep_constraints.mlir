// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline=keep-hlo-sharding-constraints=true | filecheck %s
// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline=add-missing-sharding-to-control-flow=false | filecheck %s --check-prefix=COPY

// Reshards can be constraints to GSPMD, and loops can be left to it.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @reshard
// COPY-LABEL: func.func @reshard
func.func @reshard(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,4]<=[8]}"}
  // COPY-NEXT: mhlo.copy %arg0 {mhlo.sharding = "{devices=[2,4]<=[8]}"}
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y", ?}]> : tensor<8x8xf32>
  // CHECK-NEXT: mhlo.copy %{{.*}} {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
  // COPY-NEXT: mhlo.copy
  %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @manual_computation
func.func @manual_computation(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: stablehlo.custom_call @Sharding(%arg0)
  // CHECK-NEXT: stablehlo.custom_call @SPMDFullToShardShape
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @branch
// COPY-LABEL: func.func @branch
func.func @branch(%index: tensor<i32>, %arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: }) {mhlo.sharding = "{replicated}"} : (tensor<i32>) -> tensor<8xf32>
  // COPY: }) : (tensor<i32>) -> tensor<8xf32>
  %0 = "stablehlo.case"(%index) ({
    stablehlo.return %arg0 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
