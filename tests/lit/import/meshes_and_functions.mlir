// Meshes written out in shardings, and edges between functions.
//
// RUN: sdy-opt %s --sdy-inline-meshes | filecheck %s --check-prefix INLINE
// RUN: sdy-opt %s --sdy-add-func-data-flow-edges | filecheck %s --check-prefix EDGES

// INLINE-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>

// An edge behind every result of a call, with its sharding; none behind arguments of main.
//
// INLINE-LABEL: func @main
// INLINE-SAME:    #sdy.sharding<mesh<["x"=2], device_ids=[1, 0]>, [{"x"}]>
// EDGES-LABEL: func @main
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // EDGES-NEXT: %[[C:.*]] = call @callee(%arg0)
  // EDGES-NEXT: %[[E:.*]] = sdy.func_data_flow_edge %[[C]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  // EDGES-NEXT: return %[[E]]
  // INLINE:     call @callee{{.*}}<mesh<["x"=2], device_ids=[1, 0]>, [{"x", ?}]>
  %0 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// EDGES-LABEL: func private @callee
func.func private @callee(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // EDGES-NEXT: %[[E:.*]] = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  // EDGES-NEXT: stablehlo.negate %[[E]]
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
