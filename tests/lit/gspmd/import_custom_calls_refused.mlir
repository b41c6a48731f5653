// RUN: sdy-opt %s --xla-sdy-import-sdy-custom-calls --split-input-file --verify-diagnostics

// What should say more of the op but does not is an error.

func.func @no_group(%arg0: tensor<8xf32>) {
  // expected-error @+1 {{expected a custom call with a sharding group id}}
  stablehlo.custom_call @xla.sdy.ShardingGroup(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @no_direction(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a custom call with an allowed direction}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @used_group(%arg0: tensor<8xf32>) -> tuple<> {
  // expected-error @+1 {{the result of a custom call @xla.sdy.ShardingGroup cannot be used}}
  %0 = stablehlo.custom_call @xla.sdy.ShardingGroup(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "21 : i64"}} : (tensor<8xf32>) -> tuple<>
  return %0 : tuple<>
}
