// RUN: sdy-opt %s --canonicalize | filecheck %s

// What is not of the sdy dialect is MLIR's to canonicalize, before, between and after our patterns.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Two equal constants are one, so two reshards are too.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:    %0 = sdy.reshard %cst <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT:    return %0, %0
func.func @constants() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %3 = sdy.reshard %2 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Constants of Shardy's own are never merged.
// CHECK-LABEL: func.func @sdy_constants
// CHECK-COUNT-2: sdy.constant
func.func @sdy_constants() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The branch that is taken brings its reshard next to another one.
// CHECK-LABEL: func.func @known_branch
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    return %0
func.func @known_branch(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    %2 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %arg0 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %3 = sdy.reshard %1 <@mesh, [{"y"}]> : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A constraint speaks even where nothing uses its result.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    sdy.sharding_constraint %arg0
// CHECK-NEXT:    return
func.func @dead(%arg0: tensor<8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return
}
