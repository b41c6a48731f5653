sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<4xi32>) -> tensor<4xi32> {
  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"b"}]>] manual_axes={"b"} () {
    %1 = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    sdy.return %1 : tensor<2xi32>
  } : () -> tensor<4xi32>
  %2 = stablehlo.add %0, %arg0 : tensor<4xi32>
  return %2 : tensor<4xi32>
}
