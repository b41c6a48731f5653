// Each op says at which step which axis went from which of its operands and results to which.
//
// RUN: sdy-opt %s --split-input-file --sdy-add-data-flow-edges --sdy-user-priority-propagate=debug-propagation-edge-sharding=true | filecheck %s

// Between the main function's result and what it returns axes go too.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME:    -> (tensor<4x8xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"y" = result-0 -> [operand-0]}]}, {step-4 = [{"x" = operand-0 -> [result-0]}]}]>
func.func @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<4x8xf32>)
    -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  // CHECK: stablehlo.add {{.*}}<[{step-1 = [{"x" = operand-0 -> [operand-1, result-0]}]}, {step-3 = [{"y" = result-0 -> [operand-0, operand-1]}]}]>
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x8xf32>
  // CHECK: stablehlo.negate {{.*}}<[{step-2 = [{"x" = operand-0 -> [result-0]}, {"y" = result-0 -> [operand-0]}]}]>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @operand_twice
func.func @operand_twice(%arg0: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.multiply {{.*}}<[{step-1 = [{"x" = result-0 -> [operand-0, operand-1]}]}]>
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// "y" waits for its priority.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @priorities
func.func @priorities(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}p1]>}) -> tensor<8x4xf32> {
  // CHECK: stablehlo.transpose {{.*}}<[{step-0 = [{"x" = operand-0 -> [result-0]}]}, {step-3 = [{"y" = operand-0 -> [result-0]}]}]>
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.negate {{.*}}<[{step-1 = [{"x" = operand-0 -> [result-0]}]}, {step-4 = [{"y" = operand-0 -> [result-0]}]}]>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// The parts that two factors of a dimension get are told of as one axis.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @joined
func.func @joined(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>}) -> tensor<2x4xf32> {
  // CHECK: stablehlo.reshape {{.*}}<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>
  %0 = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<8xf32>
  // CHECK: stablehlo.reshape {{.*}}<[{step-1 = [{"x":(1)2 = operand-0 -> [result-0]}, {"x":(2)2 = operand-0 -> [result-0]}]}]>
  %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// "x" comes from the body to the loop's edge. The edge has no operand to name for that; the op
// that "x" came from in the body has.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @loop
func.func @loop(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}, %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %n: tensor<i32>) -> tensor<4x4xf32> {
  %0:2 = stablehlo.while(%i = %n, %a = %arg0) : tensor<i32>, tensor<4x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.transpose {{.*}}<[{step-0 = [{"x" = operand-0 -> [result-0]}]}, {step-2 = [{"y" = result-0 -> [operand-0]}]}]>
    %1 = stablehlo.transpose %arg1, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %i, %1 : tensor<i32>, tensor<4x4xf32>
  }
  // CHECK: sdy.data_flow_edge %0#1 sharding=<@mesh, [{"x", ?}, {"y", ?}]> {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"y" = operand-0 -> [result-0]}]}]>}
  return %0#1 : tensor<4x4xf32>
}
