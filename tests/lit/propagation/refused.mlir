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
