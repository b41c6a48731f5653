sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {"b"}p0]>}, %arg1: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}p3]>}, tensor<8x16xf32>, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) {
  sdy.sharding_group %arg0 group_id=5 : tensor<8x16xf32>
  sdy.sharding_group %arg1 group_id=5 : tensor<8x16xf32>
  %0 = sdy.propagation_barrier %arg1 allowed_direction=FORWARD : tensor<8x16xf32>
  %1 = stablehlo.sine %0 : tensor<8x16xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8x16xf32>
  %3 = stablehlo.cosine %2 : tensor<8x16xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {}], replicated={"a"}> : tensor<8x16xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{}, {"a"}]> : tensor<8x16xf32>
  return %arg0, %5, %5 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
