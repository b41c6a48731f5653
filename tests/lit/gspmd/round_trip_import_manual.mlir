// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline | filecheck %s

// Calls of manual bodies are manual computations again.

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>}"}} {
  // CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>

  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1 : tensor<4xf32>
  // CHECK-NEXT: sdy.return %[[NEGATE]] : tensor<4xf32>
  // CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[COMPUTATION]] : tensor<8xf32>
  func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, ?}]>]>"}} : (tensor<4xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @unused
  // CHECK-SAME: (%arg0: tensor<0xf32>) -> tensor<0xf32>
  // CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<> : tensor<0xf32>
  // CHECK-NEXT: return %[[CONSTANT]] : tensor<0xf32>
  func.func @unused(%arg0: tensor<0xf32>) -> tensor<0xf32> {
    %0 = stablehlo.constant dense<> : tensor<0xf32>
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<0xf32>) -> tensor<0xf32>
    %2 = call @xla.sdy.manual_computation_body_0(%1) : (tensor<0xf32>) -> tensor<0xf32>
    return %0 : tensor<0xf32>
  }

  func.func private @xla.sdy.manual_computation_body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  func.func private @xla.sdy.manual_computation_body_0(%arg0: tensor<0xf32>) -> tensor<0xf32> {
    return %arg0 : tensor<0xf32>
  }
}
