// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline --split-input-file --verify-diagnostics

// What was written by something else than the export is an error where it stands.

// expected-error @+1 {{frontend attribute 'xla.sdy.meshes' is no attribute}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[]"}} {
}

// -----

func.func @no_sharding(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected custom call @xla.sdy.FuncResultSharding to have a sharding}}
  %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @not_made_local(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected an operand to come from custom call @xla.sdy.GlobalToLocalShape}}
  %0 = call @xla.sdy.manual_computation_body(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @xla.sdy.manual_computation_body(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

func.func @not_made_global(%arg0: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<mesh<[\22x\22=2]>, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected its results to go to @xla.sdy.LocalToGlobalShape}}
  %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @xla.sdy.manual_computation_body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{frontend attribute 'xla.sdy.sharding' is no attribute}}
func.func @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh"}}) {
  return
}
