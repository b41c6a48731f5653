// RUN: sdy-opt %s --sdy-from-gspmd --split-input-file --verify-diagnostics

// What cannot be imported is an error where it stands.

func.func @wrong_text(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{in mhlo.sharding: 1:10: error: expected '[', found '2'}}
  %0 = stablehlo.negate %arg0 {mhlo.sharding = "{devices=2}"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @other_rank(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{is for tensors of rank 2, not 1}}
  %0 = stablehlo.negate %arg0 {mhlo.sharding = "{devices=[2,2]<=[4]}"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @too_few(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{1 shardings for 2 results}}
  %0:2 = stablehlo.custom_call @two(%arg0) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}

// -----

func.func @manual_computation(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
  // expected-error @+1 {{custom call @SPMDFullToShardShape: manual computations cannot be imported}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
