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

func.func @without_call(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error @+1 {{a value of one device is used without @SPMDShardToFullShape}}
  return %0 : tensor<4xf32>
}

// -----

func.func @one_operand_is_global(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected every operand to come from @SPMDFullToShardShape}}
  %2 = call @body(%1, %arg1) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
func.func private @body(%arg0: tensor<4xf32>, %arg1: tensor<8xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}

// -----

func.func @result_stays_local(%arg0: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  %2 = call @body(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{a value of one device is used without @SPMDShardToFullShape}}
  return %2 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}

// -----

// How many devices there are is said nowhere.
func.func @no_devices(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{{manual} takes a mesh with axes: say how many devices there are}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
