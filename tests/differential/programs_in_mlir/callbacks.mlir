sdy.mesh @mesh = <["a"=4, "b"=2]>

func.func public @main(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {api_version = 4 : i32, backend_config = {index = 0 : ui64}, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[0]>, []>]>} : (tensor<8x16xf32>) -> ()
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {api_version = 4 : i32, backend_config = {index = 1 : ui64}, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[0]>, []>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {api_version = 4 : i32, backend_config = {index = 2 : ui64}, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[1]>, []>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2:2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {api_version = 4 : i32, backend_config = {index = 2 : ui64}, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>, <@mesh, [{}, {}]>]>} : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return %0, %2#0 : tensor<8x16xf32>, tensor<8x16xf32>
}
