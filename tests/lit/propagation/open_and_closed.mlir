// What a sharding lets in: open and closed dimensions, replicated axes, barriers, priorities.
//
// RUN: sdy-opt %s --split-input-file --sdy-user-priority-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @closed_dimension
// CHECK-SAME:    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}
func.func @closed_dimension(
    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @replicated_axis
// CHECK-SAME:    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}], replicated={"y"}>}
func.func @replicated_axis(
    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"y"}>}) -> tensor<4x4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @barrier
func.func @barrier(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<4xf32>
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=FORWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  %0 = sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<4xf32>
  %1 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// %arg1 is p0 and goes first, though %arg0 stands before it; %arg0 keeps what it has.
//
// CHECK-LABEL: func @lower_priority_first
// CHECK-SAME:    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @lower_priority_first(
    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}]>},
    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}) -> tensor<4x4xf32> {
  // CHECK: stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @group
// CHECK-SAME:    %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
func.func @group(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  sdy.sharding_group %arg0 group_id=0 : tensor<4xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<4xf32>
  return %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The condition, the body and the result of a loop are one tensor.
//
// CHECK-LABEL: func @loop
func.func @loop(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK: stablehlo.tanh %iterArg_0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  // CHECK: sdy.data_flow_edge %0#1 sharding=<@mesh, [{"x", ?}]>
  %0:2 = stablehlo.while(%i = %n, %x = %arg0) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %i, %y : tensor<i32>, tensor<4xf32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<i32>
  %2 = sdy.data_flow_edge %0#1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
