// What the shardings of inputs and outputs may not have: parts that do not divide, and sub-axes.
//
// RUN: sdy-opt %s --sdy-update-non-divisible-input-output-shardings | filecheck %s --check-prefix EVEN
// RUN: sdy-opt %s --sdy-remove-sub-axes-in-input-output-shardings | filecheck %s --check-prefix WHOLE

sdy.mesh @mesh = <["x"=8, "y"=2]>

// Of an axis that does not divide, the part that does stays. A closed dimension keeps sub-axes.
//
// EVEN-LABEL: func @main
// EVEN-SAME:    %arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}, {?}]>}
// EVEN-SAME:    %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2}]>}
// EVEN-SAME:    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}p1]>})
// WHOLE-LABEL: func @main
// WHOLE-SAME:   %arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}
// WHOLE-SAME:   %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2}]>}
// WHOLE-SAME:   -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}p1]>})
func.func @main(
    %arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>},
    %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}p1]>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<16xf32>
  // Calls are like functions; other ops may be padded.
  //
  // EVEN: call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // EVEN: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
  %1 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x3xf32>
  return %0 : tensor<16xf32>
}

// WHOLE: func private @callee(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {?}]>})
func.func private @callee(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {?}]>}) -> tensor<4x3xf32> {
  return %arg0 : tensor<4x3xf32>
}
