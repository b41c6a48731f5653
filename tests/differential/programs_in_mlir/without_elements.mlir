sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<0x16xf32>, %arg1: tensor<16x32xf32>) -> (tensor<0x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {"b"}]>, <@mesh, [{"b"}, {}]>] out_shardings=[<@mesh, [{}, {}], replicated={"b"}>] manual_axes={"b"} (%arg2: tensor<0x8xf32>, %arg3: tensor<8x32xf32>) {
    %1 = stablehlo.dot %arg2, %arg3 : (tensor<0x8xf32>, tensor<8x32xf32>) -> tensor<0x32xf32>
    sdy.return %1 : tensor<0x32xf32>
  } : (tensor<0x16xf32>, tensor<16x32xf32>) -> tensor<0x32xf32>
  return %0 : tensor<0x32xf32>
}
