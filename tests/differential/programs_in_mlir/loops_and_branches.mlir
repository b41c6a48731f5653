sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>) -> tensor<8x16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c5 = stablehlo.constant dense<5> : tensor<i32>
  %0:3 = stablehlo.while(%it = %arg1, %i = %c, %inv = %arg0) : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
    cond {
    %1 = stablehlo.compare LT, %i, %c5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %it, %inv : tensor<8x16xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"a"}, {?}]>] out_shardings=[<@mesh, [{"a"}, {?}]>] manual_axes={"a"} (%arg3: tensor<2x16xf32>) {
      %5 = stablehlo.sine %arg3 : tensor<2x16xf32>
      sdy.return %5 : tensor<2x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<8x16xf32>
    %4 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %3, %4, %inv : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
  }
  %6 = "stablehlo.case"(%arg2) ({
    %7 = stablehlo.cosine %0#0 : tensor<8x16xf32>
    stablehlo.return %7 : tensor<8x16xf32>
  }, {
    stablehlo.return %arg0 : tensor<8x16xf32>
  }) : (tensor<i32>) -> tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}
