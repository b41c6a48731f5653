// RUN: sdy-opt %s --sdy-to-gspmd --split-input-file --verify-diagnostics

// What has no image in XLA is an error where it stands.

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @manual_computation(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' cannot be exported to GSPMD: no op of XLA stands for it}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @data_flow_edge(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' cannot be exported to GSPMD: run sdy-sink-data-flow-edges first}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
