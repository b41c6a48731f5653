// A dimension that is indexed by its own positions becomes a batching dimension.
//
// RUN: sdy-opt %s --split-input-file --sdy-explicit-gather-scatter-batching | filecheck %s

// CHECK-LABEL: func @gather
func.func @gather(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>) -> tensor<4x1xf32> {
  // CHECK-NOT:  stablehlo.iota
  // CHECK:      "stablehlo.gather"(%arg0, %arg1)
  // CHECK-SAME: offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.gather"(%arg0, %1) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>} : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}

// -----

// The iota is not one of the parts here: what remains of the vectors is cut out on both sides.
//
// CHECK-LABEL: func @cut_out
func.func @cut_out(%arg0: tensor<4x8x2xf32>) -> tensor<4x1xf32> {
  // CHECK-NEXT: %[[I:.*]] = stablehlo.iota dim = 0
  // CHECK-NEXT: %[[A:.*]] = stablehlo.slice %[[I]] [0:4, 0:1]
  // CHECK-NEXT: %[[B:.*]] = stablehlo.slice %[[I]] [0:4, 2:3]
  // CHECK-NEXT: %[[R:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 1
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %[[R]])
  // CHECK-SAME: start_index_map = [1, 2]
  %0 = stablehlo.iota dim = 0 : tensor<4x3xi32>
  %1 = "stablehlo.gather"(%arg0, %0) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0, 2], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1, 1>} : (tensor<4x8x2xf32>, tensor<4x3xi32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

// CHECK-LABEL: func @scatter
func.func @scatter(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x1xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: "stablehlo.scatter"(%arg0, %arg1, %arg2)
  // CHECK-SAME: update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1
  // CHECK:      stablehlo.add
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.scatter"(%arg0, %1, %arg2) ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %3 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}
    : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// The first component counts nothing: there is no batch dimension.
//
// CHECK-LABEL: func @no_iota
func.func @no_iota(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xi32>) -> tensor<4x1xf32> {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1)
  // CHECK-NOT:  operand_batching_dims
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>} : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
