// RUN: sdy-opt %s --xla-sdy-round-trip-export-pipeline | filecheck %s

// A result of a function has no attributes in HLO: its sharding is on a custom call before the return.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=4]>}"}}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>) -> (tensor<8xf32> {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}, tensor<8xf32>)
// CHECK-NEXT: %[[FUNCRESULTSHARDING:.*]] = stablehlo.custom_call @xla.sdy.FuncResultSharding(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[FUNCRESULTSHARDING]], %arg0 : tensor<8xf32>, tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>) {
  return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
}
