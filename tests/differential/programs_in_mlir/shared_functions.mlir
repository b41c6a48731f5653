sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x16xf32> {
  %0 = func.call @wrap(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = func.call @wrap(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = func.call @g(%1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

func.func private @wrap(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {?}]>] out_shardings=[<@mesh, [{?}, {"a"}]>] manual_axes={"a"} (%arg1: tensor<2x16xf32>) {
    %1 = stablehlo.sine %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : tensor<2x16xf32>
    %2 = "stablehlo.all_to_all"(%1) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<2x16xf32>) -> tensor<8x4xf32>
    %3 = func.call @h(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    sdy.return %3 : tensor<8x4xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func private @g(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.sine %arg0 : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func private @h(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.cosine %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
