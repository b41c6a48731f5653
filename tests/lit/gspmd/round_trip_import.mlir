// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline | filecheck %s

// What was kept as text is read back; the HloShardings beside it are not.

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>}"}} {
  // CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>

  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%arg0: tensor<8xf32> {mhlo.frontend_attributes = {other = "kept"}, sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  // CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"y", ?}]> : tensor<8xf32>
  // CHECK-NEXT: %[[F:.*]] = stablehlo.custom_call @f(%[[CONSTRAINT]], %[[CONSTANT]]) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[F]] : tensor<8xf32>
  func.func @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22, ?}p1]>", other = "kept"}, mhlo.sharding = "{devices=[8]<=[8]}"}) -> (tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"}) {
    %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %1 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22, ?}]>]>"}, mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @f(%1, %0) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>"}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
