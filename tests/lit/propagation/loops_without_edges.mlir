// A loop without data-flow edges: its block arguments are its results' tensors. What uses them has
// its turn though a change of the result has nobody in the loop visited again.
//
// RUN: sdy-opt %s --sdy-op-priority-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main
// CHECK:       } do {
// CHECK:         stablehlo.tanh %iterArg_0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.tanh %x : tensor<4xf32>
    %z = stablehlo.tanh %y : tensor<4xf32>
    stablehlo.return %i, %z : tensor<i32>, tensor<4xf32>
  }
  %1 = stablehlo.negate %0#1 : tensor<4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}
