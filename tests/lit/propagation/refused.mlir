// What propagation refuses, at the place where it stands.
//
// RUN: sdy-opt %s --split-input-file --verify-diagnostics --sdy-basic-propagate

func.func @dynamic_shape(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{Shardy propagation only supports ranked tensors with a static shape. type: 'tensor<?xf32>'}}
  %0 = stablehlo.tanh %arg0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @tuple(%arg0: tensor<4xf32>) -> tuple<tensor<4xf32>> {
  // expected-error @+1 {{Shardy propagation doesn't support tuples: 'tuple<tensor<4xf32>>'}}
  %0 = stablehlo.tuple %arg0 : tuple<tensor<4xf32>>
  return %0 : tuple<tensor<4xf32>>
}

// -----

// expected-error @+1 {{functions with more than one block are not supported}}
func.func @branches(%arg0: tensor<4xf32>, %arg1: i1) -> tensor<4xf32> {
  cf.cond_br %arg1, ^bb1(%arg0 : tensor<4xf32>), ^bb2
^bb1(%0: tensor<4xf32>):
  return %0 : tensor<4xf32>
^bb2:
  return %arg0 : tensor<4xf32>
}

// -----

func.func @edge_on_an_ordinary_op(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  // expected-error @+1 {{a data-flow edge must be on a result of a while, case,}}
  %1 = sdy.data_flow_edge %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @edge_on_a_function_argument(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a data-flow edge must be on a result of a while, case,}}
  %0 = sdy.data_flow_edge %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
