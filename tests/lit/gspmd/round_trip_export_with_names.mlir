// RUN: sdy-opt %s --xla-sdy-round-trip-export-pipeline='enable-hlo-sharding-v3=true' | filecheck %s

// HloShardings with names say all but priorities, of manual computations too.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}, {}]}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}, {}]}"})
// CHECK-NEXT: %[[SHARDING:.*]] = stablehlo.custom_call @Sharding(%arg0) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', 'y'}, {}]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[GLOBALTOLOCALSHAPE:.*]] = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%[[SHARDING]]) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}, {}], manual={'x'}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[CALL:.*]] = call @xla.sdy.manual_computation_body(%[[GLOBALTOLOCALSHAPE]]) {mhlo.frontend_attributes = {inlineable = "xla_late"}, mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {?}], manual={'x'}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[LOCALTOGLOBALSHAPE:.*]] = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%[[CALL]]) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {?}]}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[LOCALTOGLOBALSHAPE]] : tensor<8x8xf32>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @xla.sdy.manual_computation_body
// CHECK-SAME: (%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %arg0 : tensor<4x8xf32>
