// Edges give their shardings to the ops that they belong to, and go.
//
// RUN: sdy-opt %s --sdy-sink-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Where one result gets a sharding, all do.
//
// CHECK-LABEL: func @results
func.func @results(%arg0: tensor<8xf32>, %arg1: tensor<4x4xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[B:.*]]:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>, <@mesh, [{?}, {?}]>]>}
  // CHECK-NEXT: return %[[B]]#0, %[[B]]#1
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<4x4xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<4x4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func @no_sharding
func.func @no_sharding(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[B:.*]] = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  // CHECK-NEXT: return %[[B]]
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What the body found follows the manual axes of an in-sharding.
//
// CHECK-LABEL: func @manual_computation
func.func @manual_computation(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.manual_computation(%arg0)
  // CHECK-SAME:   in_shardings=[<@mesh, [{"x", "y"}, {?}]>]
  // CHECK-SAME:   out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%[[ARG:[a-z0-9]+]]: tensor<4x8xf32>)
  // CHECK-NEXT:   stablehlo.negate %[[ARG]]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", ?}, {?}]>]
      out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %1 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"y"}, {?}]> : tensor<4x8xf32>
    %2 = stablehlo.negate %1 : tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
