// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline=enable-hlo-sharding-v3=true | filecheck %s
// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline='enable-hlo-sharding-v3=true simplify-replicated-shardings=true' | filecheck %s --check-prefix=SIMPLE

// HloShardings that name their mesh and axes keep open dimensions too.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @listed = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @one_device = <[], device_ids=[3]>
sdy.mesh @none = <[]>

// CHECK-LABEL: func.func @arguments
// CHECK-SAME: %arg0: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}, {'y':(1)2}], replicated={'y':(2)2}}"}
// CHECK-SAME: %arg1: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {}]}"}
// CHECK-SAME: %arg2: tensor<f32> {mhlo.sharding = "{mesh['x'=2,'y'=4], replicated}"}
// CHECK-SAME: %arg3: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'y'}, {}]}"}
// CHECK-SAME: %arg4: tensor<8x8xf32> {mhlo.sharding = "{maximal_mesh[device_id=3]}"}
// CHECK-SAME: %arg5: tensor<8x8xf32> {mhlo.sharding = "{mesh[], [{?}, {}]}"}
// SIMPLE-LABEL: func.func @arguments
// SIMPLE-SAME: %arg1: tensor<8x8xf32> {mhlo.sharding = "{mesh[], replicated}"}
// SIMPLE-SAME: %arg5: tensor<8x8xf32> {mhlo.sharding = "{mesh[], [{?}, {}]}"}
func.func @arguments(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2}], replicated={"y":(2)2}>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>},
    %arg3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@listed, [{"y"}, {}]>},
    %arg4: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one_device, []>},
    %arg5: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@none, [{?}, {}]>}) {
  return
}

// CHECK-LABEL: func.func @manual_axes
func.func @manual_axes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: @SPMDFullToShardShape{{.*}} {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}], manual={'x'}}"}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: @SPMDFullToShardShape{{.*}} {mhlo.sharding = "{mesh['x'=2,'y'=4], manual}"}
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%arg1: tensor<1xf32>) {
    sdy.return %arg1 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
