// The values that own a data-flow edge get an `sdy.data_flow_edge`.
//
// RUN: sdy-opt %s --split-input-file --sdy-add-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Every result of a loop has an edge, with the sharding of the result, and every use is its use.
//
// CHECK-LABEL: func @loop
func.func @loop(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      %[[W:.*]]:2 = stablehlo.while
  // CHECK:      %[[E0:.*]] = sdy.data_flow_edge %[[W]]#0 sharding=<@mesh, []> : tensor<i32>
  // CHECK-NEXT: %[[E1:.*]] = sdy.data_flow_edge %[[W]]#1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: return %[[E1]]
  %0:2 = stablehlo.while(%i = %arg0, %x = %arg1) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
    cond {
      %1 = stablehlo.compare LT, %i, %arg0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      // CHECK-NOT: sdy.data_flow_edge
      %1 = stablehlo.negate %x : tensor<8xf32>
      stablehlo.return %i, %1 : tensor<i32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @branches_and_barrier
func.func @branches_and_barrier(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[C:.*]] = "stablehlo.case"
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<8xf32>
  }, {
    stablehlo.return %arg1 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  // CHECK:      %[[E:.*]] = sdy.data_flow_edge %[[C]] : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.optimization_barrier %[[E]]
  // CHECK-NEXT: %[[F:.*]] = sdy.data_flow_edge %[[B]] : tensor<8xf32>
  // CHECK-NEXT: return %[[F]]
  %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Inside of a manual computation the manual axes are gone from the shardings of the arguments.
//
// CHECK-LABEL: func @manual_computation
func.func @manual_computation(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK:      (%[[ARG:[a-z0-9]+]]: tensor<4x8xf32>) {
  // CHECK-NEXT:   %[[E:.*]] = sdy.data_flow_edge %[[ARG]] sharding=<@mesh, [{"y"}, {?}]>
  // CHECK-NEXT:   stablehlo.negate %[[E]]
  // CHECK:      sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x"}, {"y", ?}]>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {?}]>]
      out_shardings=[<@mesh, [{"x"}, {"y", ?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A token has no sharding and no edge.
//
// CHECK-LABEL: func @token
// CHECK-NOT:     sdy.data_flow_edge
func.func @token(%arg0: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.optimization_barrier %arg0 : !stablehlo.token
  return %0 : !stablehlo.token
}
