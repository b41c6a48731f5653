// Each axis says whose annotation it goes back to: an argument's, a result's, a constraint's, or
// a manual computation's. What carries the annotation says "self".
//
// RUN: sdy-opt %s --split-input-file --sdy-add-data-flow-edges --sdy-aggressive-propagate=debug-sharding-origins=true | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME:    [{"x"}, {"z", ?}]>, sdy.sharding_origins = {x = "self", z = "input: 1"}}
// CHECK-SAME:    [{"z", ?}, {"y", ?}]>, sdy.sharding_origins = {y = "output: 0", z = "self"}}
// CHECK-SAME:    [{"x", ?}, {"y", ?}]>, sdy.sharding_origins = {x = "input: 0", y = "self"}}
func.func @main(
    %lhs: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %rhs: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}, {?}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>}) {
  // CHECK: stablehlo.dot_general {{.*}}sdy.sharding_origins = [{x = "input: 0", y = "output: 0"}]}
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Constraints are numbered in the order of the text, and named.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @constraints
// CHECK-SAME:    %arg0{{.*}}{x = "constraint_0", y = "constraint_1"}}) -> {{.*}}{x = "constraint_0", y = "constraint_1"}})
func.func @constraints(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sharding_constraint {{.*}}{sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {x = "self", y = "constraint_1"}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}]> : tensor<4x8xf32>
  // CHECK: stablehlo.tanh {{.*}}sdy.sharding_origins = [{x = "constraint_0", y = "constraint_1"}]}
  %1 = stablehlo.tanh %0 : tensor<4x8xf32>
  // CHECK: sharding_constraint {{.*}}{sdy.sharding_origin_name = "constraint_1", sdy.sharding_origins = {x = "constraint_0", y = "self"}}
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {"y", ?}]> : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @manual_computation
// CHECK-SAME:    {x = "mc_0_input: 0", y = "mc_0_output: 0"}}) -> {{.*}}{x = "mc_0_output: 0", y = "mc_0_output: 0"}})
func.func @manual_computation(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {"y", ?}]>] manual_axes={"x"} (%arg1: tensor<2x8xf32>) {
    // CHECK: %[[ARGUMENT:.*]] = sdy.data_flow_edge %arg1 {{.*}}{sdy.sharding_origins = {x = "self", y = "mc_0_output: 0"}}
    // CHECK: stablehlo.negate %[[ARGUMENT]] {{.*}}sdy.sharding_origins = [{y = "mc_0_output: 0"}]}
    %2 = stablehlo.negate %arg1 : tensor<2x8xf32>
    sdy.return %2 : tensor<2x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: } {sdy.sharding_origin_name = "mc_0"}
  // CHECK: sdy.data_flow_edge {{.*}}{sdy.sharding_origins = {x = "self", y = "self"}}
  return %1 : tensor<4x8xf32>
}

// -----

// Parts of an axis have the origin of the whole.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @sub_axes
func.func @sub_axes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2x4xf32> {
  // CHECK: stablehlo.reshape {{.*}}sdy.sharding_origins = [{"x:(1)2" = "input: 0", "x:(2)2" = "input: 0"}]}
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// The second member gets its sharding from the group, which is no step. What spreads from it has
// the origin that the first member knows.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @sharding_group
// CHECK-SAME:    %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
func.func @sharding_group(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<4xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<4xf32>
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  // CHECK: stablehlo.negate %arg1 {{.*}}sdy.sharding_origins = [{x = "input: 0"}]}
  %1 = stablehlo.negate %arg1 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A sharding that an op has to begin with is no annotation.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @no_origin
// CHECK-SAME:    [{"x", ?}, {"y"}]>, sdy.sharding_origins = {y = "self"}}
func.func @no_origin(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<4x8xf32>
  // CHECK: stablehlo.negate {{.*}}[{"x", ?}, {"y", ?}]>]>, sdy.sharding_origins = [{y = "input: 0"}]}
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @loop
func.func @loop(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %n, %a = %arg0) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.tanh {{.*}}sdy.sharding_origins = [{x = "input: 0"}]}
    %1 = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<4xf32>
  }
  // CHECK: sdy.data_flow_edge %0#1 {{.*}}{sdy.sharding_origins = {x = "input: 0"}}
  return %0#1 : tensor<4xf32>
}
