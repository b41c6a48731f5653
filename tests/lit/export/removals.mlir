// Passes that take something away.
//
// RUN: sdy-opt %s --sdy-remove-sharding-groups | filecheck %s --check-prefix GROUPS
// RUN: sdy-opt %s --sdy-remove-propagation-debug-info | filecheck %s --check-prefix DEBUG
// RUN: sdy-opt %s --sdy-drop-sharding-and-mesh | filecheck %s --check-prefix ALL
// RUN: sdy-opt %s --sdy-sink-func-data-flow-edges | filecheck %s --check-prefix SINK

// ALL-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2]>

// DEBUG: func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
// ALL:   func @main(%arg0: tensor<8xf32> {sdy.sharding_origins = {x = "self"}}) -> tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}) -> tensor<8xf32> {
  // GROUPS-NOT: sdy.sharding_group
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  // DEBUG:     stablehlo.negate %arg0 {mhlo.note = 1 : i32} : tensor<8xf32>
  // ALL:       %[[N:.*]] = stablehlo.negate %arg0 {{.*}}sdy.sharding_origins
  // ALL-NEXT:  call @callee(%[[N]]) : (tensor<8xf32>) -> tensor<8xf32>
  %0 = stablehlo.negate %arg0 {sdy.sharding_origins = [{x = "input: 0"}], mhlo.note = 1 : i32} : tensor<8xf32>
  // SINK:      %[[C:.*]] = call @callee({{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  // SINK-NEXT: return %[[C]]
  %1 = call @callee(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.func_data_flow_edge %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// An argument whose edge has no sharding becomes open.
//
// SINK: func private @callee(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
func.func private @callee(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // SINK-NEXT: return %arg0
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
