sdy.mesh @m1 = <["a"=4, "b"=2]>
sdy.mesh @m2 = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @m3 = <["a"=4, "b"=2], device_ids=[1, 0, 3, 2, 4, 5, 6, 7]>
sdy.mesh @m4 = <["c"=8]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m1, [{"a"}, {"b"}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m2, [{"x"}, {"y", "z"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m3, [{"a"}, {}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<["q"=2, "r"=4]>, [{"q"}, {"r"}]>}) {
  %0 = sdy.sharding_constraint %arg0 <@m4, [{"c"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.add %0, %arg1 : tensor<8x16xf32>
  %2 = sdy.manual_computation(%1) in_shardings=[<@m4, [{"c"}, {}]>] out_shardings=[<@m4, [{"c"}, {}]>] manual_axes={"c"} (%arg2: tensor<1x16xf32>) {
    sdy.return %arg2 : tensor<1x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<8x16xf32>
}
