sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<4xi32>) -> tensor<4xi32> {
  sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[] manual_axes={"b"} (%arg1: tensor<2xi32>) {
    stablehlo.custom_call @effect(%arg1) {has_side_effect = true} : (tensor<2xi32>) -> ()
    sdy.return
  } : (tensor<4xi32>) -> ()
  return %arg0 : tensor<4xi32>
}
