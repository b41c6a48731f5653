// A constraint dictates the sharding of its input, where nothing speaks against it.
//
// RUN: sdy-opt %s --split-input-file --sdy-apply-sharding-constraints | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @closed
// CHECK-SAME:    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
func.func @closed(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @open
// CHECK-SAME:    %arg0: tensor<8xf32>)
func.func @open(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @sharded_already
// CHECK-SAME:    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
func.func @sharded_already(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @two_wishes
// CHECK-SAME:    %arg0: tensor<8xf32>)
func.func @two_wishes(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @in_shardings
func.func @in_shardings(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Other targets of the edge are not to be sharded so: the users of the edge use the constraint.
//
// CHECK-LABEL: func @on_edge
func.func @on_edge(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK:      %[[E:.*]] = sdy.data_flow_edge %{{[^ ]*}} : tensor<8xf32>
  // CHECK-NEXT: %[[C:.*]] = sdy.sharding_constraint %[[E]] <@mesh, [{"x"}]>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[C]]
  // CHECK-NEXT: return %[[N]], %[[C]]
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  %2 = stablehlo.negate %1 : tensor<8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Users behind a chain of constraints use its result; users before it and the return do not.
//
// CHECK-LABEL: func @chain
func.func @chain(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[BEFORE:.*]] = stablehlo.sine %arg0
  // CHECK-NEXT: %[[HEAD:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
  // CHECK-NEXT: %[[TAIL:.*]] = sdy.sharding_constraint %[[HEAD]] <@mesh, [{"y"}]>
  // CHECK-NEXT: %[[BEHIND:.*]] = stablehlo.sine %[[TAIL]]
  // CHECK-NEXT: return %arg0, %[[BEFORE]], %[[BEHIND]]
  %0 = stablehlo.sine %arg0 : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<8xf32>
  %3 = stablehlo.sine %arg0 : tensor<8xf32>
  return %arg0, %0, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
