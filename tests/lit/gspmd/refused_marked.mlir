// RUN: sdy-opt %s --sdy-to-gspmd='complete=false' --split-input-file --verify-diagnostics

// What only propagation obeys would be lost in a program that was not propagated.

func.func @sharding_group(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.sharding_group' cannot be exported to GSPMD: propagate first}}
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  return %arg0 : tensor<8xf32>
}

// -----

func.func @barrier(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.propagation_barrier' cannot be exported to GSPMD: propagate first}}
  %0 = sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<8xf32>
  return %0 : tensor<8xf32>
}
