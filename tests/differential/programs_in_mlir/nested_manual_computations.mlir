sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {?}]>] out_shardings=[<@mesh, [{"a"}, {?}]>, <@mesh, [{}, {"b"}], replicated={"a"}>] manual_axes={"a"} (%arg1: tensor<2x16xf32>) {
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"b"}, {}]>] out_shardings=[<@mesh, [{}, {"b"}]>] manual_axes={"b"} (%arg2: tensor<1x16xf32>) {
      %2 = "stablehlo.all_to_all"(%arg2) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>} : (tensor<1x16xf32>) -> tensor<2x8xf32>
      %9 = func.call @shared(%2) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      sdy.return %9 : tensor<2x8xf32>
    } : (tensor<2x16xf32>) -> tensor<2x16xf32>
    %3 = sdy.sharding_constraint %1 <@mesh, [{}, {"b"}]> : tensor<2x16xf32>
    %4 = "stablehlo.all_gather"(%3) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<2x16xf32>) -> tensor<8x16xf32>
    sdy.return %3, %4 : tensor<2x16xf32>, tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<8x16xf32>
}

func.func private @shared(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = stablehlo.sine %arg0 : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
