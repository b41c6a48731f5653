sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<7x13xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<13x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}, {?}]>}) -> (tensor<7x5xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<7x13xf32>, tensor<13x5xf32>) -> tensor<7x5xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x5xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<7x5xf32>, tensor<f32>
}
