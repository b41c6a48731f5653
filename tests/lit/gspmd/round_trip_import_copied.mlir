// RUN: sdy-opt %s --xla-sdy-round-trip-import-shardy-attrs | filecheck %s

// XLA copies frontend attributes to ops that it makes: shardings of most ops are not read.

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2]>}"}} {
  // CHECK: sdy.mesh @mesh = <["x"=2]>

  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 : tensor<8xf32>
  // CHECK-NEXT: %[[F:.*]] = stablehlo.custom_call @f(%[[NEGATE]]) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[CALLBACK:.*]] = stablehlo.custom_call @xla_ffi_python_cpu_callback(%[[F]]) {api_version = 4 : i32, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[ALL:.*]] = stablehlo.after_all %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : !stablehlo.token
  // CHECK-NEXT: return %[[CALLBACK]], %[[ALL]] : tensor<8xf32>, !stablehlo.token
  func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
    %0 = stablehlo.negate %arg0 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : tensor<8xf32>
    %1 = stablehlo.custom_call @f(%0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%1) {api_version = 4 : i32, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.after_all %arg1 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, []>]>"}} : !stablehlo.token
    return %2, %3 : tensor<8xf32>, !stablehlo.token
  }
}
