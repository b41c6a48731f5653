// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// Ops that StableHLO has as custom calls have their sharding where XLA looks for their attributes.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>)
// CHECK-NEXT: %[[ERF:.*]] = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}} : (tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[TOPK:.*]]:2 = stablehlo.custom_call @mhlo.topk(%arg0) {mhlo.attributes = {k = 2 : i64, largest = true, mhlo.sharding = "{{[{][{]}}devices=[2,1,4]<=[8] last_tile_dim_replicate}, {devices=[2,1,4]<=[8] last_tile_dim_replicate}}"}} : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
// CHECK-NEXT: %[[OTHER:.*]] = stablehlo.custom_call @other(%arg0) {mhlo.attributes = {}, mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: return %[[ERF]], %[[TOPK]]#0, %[[OTHER]] : tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>
func.func @main(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%arg0) {mhlo.attributes = {k = 2 : i64, largest = true}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %2 = stablehlo.custom_call @other(%arg0) {mhlo.attributes = {}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %1#0, %2 : tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>
}
