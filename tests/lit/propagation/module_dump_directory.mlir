// Between two user priorities the module is written to a file, as it is then: with the rules of
// its ops, and without the dead op.
//
// RUN: rm -rf %t
// RUN: sdy-opt %s --sdy-user-priority-propagate=module-dump-directory=%t/made | filecheck %s
// RUN: filecheck %s --input-file=%t/made/00.propagation_after_user_priority_0.mlir --check-prefix=FIRST
// RUN: filecheck %s --input-file=%t/made/00.propagation_after_user_priority_1.mlir --check-prefix=SECOND
// RUN: not ls %t/made/00.propagation_after_user_priority_2.mlir

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// FIRST: func.func @main(%arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}], replicated={"y", "z"}>})
// SECOND: func.func @main(%arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}], replicated={"z"}>})
// CHECK: func.func @main(%arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {"z"}]>})
func.func @main(%arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}p1, {"z"}p2]>}) -> tensor<4x8x8xf32> {
  // FIRST-NOT: stablehlo.tanh
  // CHECK-NOT: stablehlo.tanh
  %0 = stablehlo.tanh %arg0 : tensor<4x8x8xf32>
  // FIRST: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=8}>}
  // SECOND: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}, {?}]>]>, sdy.sharding_rule
  // CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}, {"z", ?}]>]>} :
  %1 = stablehlo.negate %arg0 : tensor<4x8x8xf32>
  return %1 : tensor<4x8x8xf32>
}
