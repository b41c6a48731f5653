// Which of two conflicting shardings wins is decided by who is visited first: last in, first out,
// the users of a value in MLIR's order of uses.
//
// RUN: sdy-opt %s --split-input-file --sdy-user-priority-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// %k is annotated alone. From it %p gets "x" on its rows, then %a; the users of %a are visited
// newest first: %p is done, %v is next and puts "x" on columns, then %u on rows. What meets in %w
// is not the same, and %u wins: it comes to %w first.
//
// CHECK-LABEL: func @rows_against_columns
// CHECK-SAME:    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
// CHECK-SAME:    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME:    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>})
func.func @rows_against_columns(
    %z: tensor<4x4xf32>,
    %k: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  // CHECK: %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  // CHECK: %2 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  // CHECK: %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  // CHECK: %4 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
  // CHECK: return %3, %4
  %a = stablehlo.tanh %z : tensor<4x4xf32>
  %u = stablehlo.tanh %a : tensor<4x4xf32>
  %v = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = stablehlo.add %u, %v : tensor<4x4xf32>
  %p = stablehlo.add %a, %k : tensor<4x4xf32>
  return %w, %p : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A dot of a value with itself is read before it is written: the last write wins.
//
// CHECK-LABEL: func @dot_with_itself
// CHECK-SAME:    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}
func.func @dot_with_itself(%a: tensor<4x4xf32>) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}) {
  %0 = stablehlo.dot %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// An op that nothing uses is erased when its turn comes. Its operand has one use less from then
// on, and ops that wait for operands with a single use go ahead.
//
// CHECK-LABEL: func @dead_op
// CHECK-NEXT:    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK-NEXT:    return %0
func.func @dead_op(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %dead = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p1]>]>} : tensor<4xf32>
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
