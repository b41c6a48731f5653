// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' | filecheck %s

// Shardings before, on and behind a call say what a manual computation is like.

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1 : tensor<4x8xf32>
// CHECK-NEXT: sdy.return %[[NEGATE]] : tensor<4x8xf32>
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[COMPUTATION]] : tensor<8x8xf32>
func.func @main(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.custom_call @Sharding(%arg0) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', 'y'}, {}]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}, {}], manual={'x'}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = call @xla.sdy.manual_computation_body(%1) {mhlo.frontend_attributes = {inlineable = "xla_late"}, mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {?}], manual={'x'}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {?}]}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @without_operands
// CHECK-SAME: () -> tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} () {
// CHECK-NEXT: %[[MAKE:.*]] = stablehlo.custom_call @make() : () -> tensor<4xf32>
// CHECK-NEXT: sdy.return %[[MAKE]] : tensor<4xf32>
// CHECK-NEXT: } : () -> tensor<8xf32>
// CHECK-NEXT: return %[[COMPUTATION]] : tensor<8xf32>
func.func @without_operands() -> tensor<8xf32> {
  %0 = call @xla.sdy.manual_computation_body_0() {mhlo.sharding = "{mesh['x'=2,'y'=4], [{}], manual={'x'}}"} : () -> tensor<4xf32>
  %1 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%0) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @xla.sdy.manual_computation_body(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

func.func private @xla.sdy.manual_computation_body_0() -> tensor<4xf32> {
  %0 = stablehlo.custom_call @make() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
