// RUN: sdy-opt %s --xla-sdy-round-trip-export-pipeline | filecheck %s

// A manual computation is the call of a function, and what it is like is said on custom calls around it.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=4]>}"}}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[GLOBALTOLOCALSHAPE:.*]]:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0, %arg1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>, <@mesh, [{}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[CALL:.*]] = call @xla.sdy.manual_computation_body(%[[GLOBALTOLOCALSHAPE]]#0, %[[GLOBALTOLOCALSHAPE]]#1) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[LOCALTOGLOBALSHAPE:.*]] = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%[[CALL]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, ?}]>]>"}} : (tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[LOCALTOGLOBALSHAPE]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<8xf32>) {
    %1 = stablehlo.negate %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @without_values
// CHECK-SAME: ()
// CHECK-NEXT: call @xla.sdy.manual_computation_body_0() : () -> ()
// CHECK-NEXT: return
func.func @without_values() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  return
}

// CHECK-LABEL: func.func @xla.sdy.manual_computation_body
// CHECK-SAME: (%arg0: tensor<4xf32>, %arg1: tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>"}, mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : tensor<4xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<4xf32>

// CHECK-LABEL: func.func @xla.sdy.manual_computation_body_0
// CHECK-SAME: ()
// CHECK-NEXT: stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
// CHECK-NEXT: return
