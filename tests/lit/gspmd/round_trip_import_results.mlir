// RUN: sdy-opt %s --xla-sdy-round-trip-import-shardy-attrs | filecheck %s

// A function that was inlined leaves its result sharding as an open constraint where the value is used.

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2]>}"}} {
  // CHECK: sdy.mesh @mesh = <["x"=2]>

  // CHECK-LABEL: func.func @used_and_returned
  // CHECK-SAME: (%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>)
  // CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> : tensor<8xf32>
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[CONSTRAINT]] : tensor<8xf32>
  // CHECK-NEXT: return %[[CONSTRAINT]], %[[NEGATE]] : tensor<8xf32>, tensor<8xf32>
  func.func @used_and_returned(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }

  // CHECK-LABEL: func.func @without_elements
  // CHECK-SAME: (%arg0: tensor<0xf32>) -> (tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  // CHECK-NEXT: %[[CONSTANT:.*]] = stablehlo.constant dense<> : tensor<0xf32>
  // CHECK-NEXT: return %[[CONSTANT]] : tensor<0xf32>
  func.func @without_elements(%arg0: tensor<0xf32>) -> tensor<0xf32> {
    %0 = stablehlo.constant dense<> : tensor<0xf32>
    %1 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<0xf32>) -> tensor<0xf32>
    return %0 : tensor<0xf32>
  }
}
