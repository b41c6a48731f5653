// RUN: sdy-opt %s --sdy-to-gspmd --split-input-file --verify-diagnostics

// What has no image in XLA is an error where it stands.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["z"=8]>

func.func @several_meshes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%arg1: tensor<4xf32>) {
    // expected-error @+1 {{in a manual computation on another mesh: sharding<@other, [{"z"}]>}}
    %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"z"}]>]>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @sub_axis(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{cannot make a tensor unreduced along a part of an axis}}
  %0 = sdy.replicated_to_unreduced {"y":(1)2} %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"y":(1)2}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @uneven(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) -> tensor<7xf32> {
  // expected-error @+1 {{unreduced tensors can only be split evenly}}
  %0 = sdy.all_reduce {"y"} %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  return %0 : tensor<7xf32>
}
