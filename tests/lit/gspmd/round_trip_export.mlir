// RUN: sdy-opt %s --xla-sdy-round-trip-export-pipeline | filecheck %s

// Meshes, shardings and rules are kept as text, and ops as custom calls that XLA does not read.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=4]>}"}}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22, ?}p1]>"}, mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}, %arg1: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = stablehlo.constant {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>"}, mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[SHARDING:.*]] = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22, ?}]>]>"}, mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[SHARDING_2:.*]] = stablehlo.custom_call @Sharding(%[[SHARDING]]) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}, mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: stablehlo.custom_call @xla.sdy.ShardingGroup(%[[SHARDING_2]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "3 : i64"}} : (tensor<8xf32>) -> ()
// CHECK-NEXT: %[[PROPAGATIONBARRIER:.*]] = stablehlo.custom_call @xla.sdy.PropagationBarrier(%[[SHARDING_2]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "2 : i32"}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[F:.*]] = stablehlo.custom_call @f(%[[PROPAGATIONBARRIER]], %[[CONSTANT]]) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>"}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[F]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1]>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"y", ?}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8xf32>
  %4 = stablehlo.custom_call @f(%3, %0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
