// RUN: sdy-opt %s --xla-sdy-stablehlo-round-trip-shard-map-export | filecheck %s

// Operands are copied as they are sharded outside and become local; the body is called; results
// are copied as they are sharded inside and become global. All that is local says so.

sdy.mesh @mesh = <["a"=4, "b"=2]>

// CHECK-LABEL: func.func @partly_manual
func.func @partly_manual(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NEXT: %[[IN:.*]] = mhlo.copy %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>]>}
  // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.custom_call @SPMDFullToShardShape(%[[IN]])
  // CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a"}>} : (tensor<8x16xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: %[[CALL:.*]] = call @xla.sdy.inlinable_manual_computation_body_0(%[[LOCAL]])
  // CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}]>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a"}>}
  // CHECK-NEXT: %[[OUT:.*]] = mhlo.copy %[[CALL]]
  // CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}]>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a"}>}
  // CHECK-NEXT: %[[GLOBAL:.*]] = stablehlo.custom_call @SPMDShardToFullShape(%[[OUT]])
  // CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {?}]>]>} : (tensor<2x16xf32>) -> tensor<8x16xf32>
  // CHECK-NEXT: return %[[GLOBAL]]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"a"}, {?}]>] manual_axes={"a"} (%arg1: tensor<2x16xf32>) {
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"b"}, {}]>] out_shardings=[<@mesh, [{}, {"b"}]>] manual_axes={"b"} (%arg2: tensor<1x16xf32>) {
      %2 = "stablehlo.all_to_all"(%arg2) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>} : (tensor<1x16xf32>) -> tensor<2x8xf32>
      sdy.return %2 : tensor<2x8xf32>
    } : (tensor<2x16xf32>) -> tensor<2x16xf32>
    sdy.return %1 : tensor<2x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// What is no tensor has but one form. An op without results says on which devices it runs.
// CHECK-LABEL: func.func @tokens
func.func @tokens(%arg0: !stablehlo.token) -> !stablehlo.token {
  // CHECK-NEXT: %[[CALL:.*]] = call @xla.sdy.inlinable_manual_computation_body_1(%arg0)
  // CHECK-NEXT: return %[[CALL]]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, []>] out_shardings=[<@mesh, []>] manual_axes={"a", "b"} (%arg1: !stablehlo.token) {
    stablehlo.custom_call @effect(%arg1) {has_side_effect = true} : (!stablehlo.token) -> ()
    sdy.return %arg1 : !stablehlo.token
  } : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// Without operands and results there is nothing to be local along.
// CHECK-LABEL: func.func @nothing_in_nothing_out
func.func @nothing_in_nothing_out() {
  // CHECK-NEXT: stablehlo.custom_call @effect() {has_side_effect = true}
  // CHECK-NEXT: return
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  return
}

// The body of the inner computation is local along the axes of both.
// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body(
// CHECK-SAME: %arg0: tensor<1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, xla.sdy.manual_axes = #sdy<manual_axes{"a", "b"}>})
// CHECK-SAME: -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, xla.sdy.manual_axes = #sdy<manual_axes{"a", "b"}>})
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a", "b"}>}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_0(
// CHECK: mhlo.copy %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a"}>}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_1(
// CHECK: stablehlo.custom_call @effect(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>, xla.sdy.manual_axes = #sdy<manual_axes{"a", "b"}>}
