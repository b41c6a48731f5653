// RUN: sdy-opt %s --sdy-manual-axes-cleanup --split-input-file --verify-diagnostics -o %t
// RUN: filecheck %s --input-file %t

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @empty = <[]>

// A manual axis that a sharding does not name becomes replicated, in the order of the mesh.

// CHECK-LABEL: func.func @main
// CHECK: in_shardings=[<@mesh, [{"z", ?}], replicated={"x", "y"}>, <@mesh, [{?}], replicated={"x", "y", "z"}>]
// CHECK-SAME: out_shardings=[<@mesh, [{"x", "z"}], replicated={"y"}>]
// CHECK-SAME: manual_axes={"x", "y", "z"}
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%a, %b)
      in_shardings=[<@mesh, [{"z", ?}], replicated={"y"}>, <@empty, [{?}]>]
      out_shardings=[<@mesh, [{"x", "z"}]>] manual_axes={"z", "x", "y"} (%c: tensor<4xf32>, %d: tensor<4xf32>) {
    sdy.return %c : tensor<4xf32>
  } : (tensor<8xf32>, tensor<4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @nothing_says_on_which_mesh() {
  // expected-error @+1 {{op has manual_axes when there are no in/out shardings and the body is not empty}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    sdy.return
  } : () -> ()
  return
}
