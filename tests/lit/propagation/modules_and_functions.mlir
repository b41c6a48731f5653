// Modules with no function, or with more than functions that call each other.
//
// RUN: sdy-opt %s --split-input-file --verify-diagnostics --sdy-basic-propagate | filecheck %s
// RUN: sdy-opt %s --split-input-file --sdy-import-pipeline
// RUN: sdy-opt %s --split-input-file --sdy-export-pipeline

// CHECK: module {
// CHECK-NEXT: }
module {}

// -----

// A nested module has meshes and functions of its own, under names of its own.

// CHECK-LABEL: module @inner
// CHECK: stablehlo.tanh %arg0 : tensor<16x8xf32>
// CHECK: func.func @main
// CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-warning @+1 {{a nested module is left as it is}}
module @inner {
  sdy.mesh @mesh = <["x"=8]>
  func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A call of a function that is defined elsewhere has no rule.

// CHECK-LABEL: func.func @calls_an_external_function
// CHECK-NEXT:  %[[TANH:.*]] = stablehlo.tanh %arg0 {sdy.sharding
// CHECK-NEXT:  %[[CALL:.*]] = call @external(%[[TANH]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:  stablehlo.tanh %[[CALL]] : tensor<8xf32>
sdy.mesh @mesh = <["x"=2]>
func.func @calls_an_external_function(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  %1 = call @external(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.tanh %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @external(tensor<8xf32>) -> tensor<8xf32>
func.func private @main(tensor<8xf32>) -> tensor<8xf32>

// -----

// What a function returns is handed to it again: the users of %0 are all found nevertheless.

// CHECK-LABEL: func.func @main
// CHECK: stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @same(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @same(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.negate %0 : tensor<8xf32>
  %3 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
func.func private @same(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
