// RUN: sdy-opt %s --split-input-file --verify-diagnostics --sdy-flatten-call-graph --sdy-import-func-calls

// A function that calls itself has no end of bodies.

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{function @main is recursive}}
  %0 = call @main(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @main(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{function @declared has no body}}
  %0 = call @declared(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @declared(tensor<8xf32>) -> tensor<8xf32>

// -----

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{function @branches has more than one block}}
  %0 = call @branches(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @branches(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb1
^bb1:
  return %arg0 : tensor<8xf32>
}
