// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// A Python function that is called for a result has it in a tuple, as XLA's compiler expects.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALLBACK:.*]] = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {api_version = 4 : i32, has_side_effect = true, mhlo.sharding = "{maximal device=3}"} : (tensor<8xf32>) -> tuple<tensor<8xf32>>
// CHECK-NEXT: %[[ELEMENT:.*]] = stablehlo.get_tuple_element %[[CALLBACK]][0] {mhlo.sharding = "{maximal device=3}"} : (tuple<tensor<8xf32>>) -> tensor<8xf32>
// CHECK-NEXT: return %[[ELEMENT]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {api_version = 4 : i32, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[3]>, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @for_its_effect
// CHECK-SAME: (%arg0: tensor<8xf32>)
// CHECK-NEXT: stablehlo.custom_call @xla_ffi_python_gpu_callback(%arg0) {api_version = 4 : i32, has_side_effect = true, mhlo.sharding = "{maximal device=0}"} : (tensor<8xf32>) -> ()
// CHECK-NEXT: return
func.func @for_its_effect(%arg0: tensor<8xf32>) {
  stablehlo.custom_call @xla_ffi_python_gpu_callback(%arg0) {api_version = 4 : i32, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[0]>, []>]>} : (tensor<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @other
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[OTHER:.*]] = stablehlo.custom_call @other(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[OTHER]] : tensor<8xf32>
func.func @other(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @other(%arg0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
