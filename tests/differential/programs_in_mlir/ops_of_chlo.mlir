sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>) {
  %0 = chlo.erf %arg0 : tensor<8x16xf32> -> tensor<8x16xf32>
  %1, %2 = chlo.top_k(%arg0, k = 2) : tensor<8x16xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %3 = stablehlo.custom_call @annotated(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16}, custom>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = stablehlo.optimization_barrier %3 : tensor<8x16xf32>
  return %0, %1, %4 : tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x16xf32>
}
