// RUN: sdy-opt %s --sdy-unflatten-call-graph --symbol-dce | filecheck %s
// RUN: sdy-opt %s --sdy-unflatten-call-graph='dedup-functions-fully=true' --symbol-dce | filecheck %s --check-prefix FULLY

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Copies with equal shardings are one function again; fully, that which is called most.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @f(
// CHECK-NEXT: call @f(
// CHECK-NEXT: call @f_1(
// CHECK-NEXT: call @f_1(
// CHECK-NEXT: call @f_1(

// FULLY-LABEL: func.func @main
// FULLY-COUNT-5: call @f_1(
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_1(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @f_1(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @f_1(%3) : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @f(
// CHECK-LABEL: func.func private @f_1(
// CHECK-NOT: original_func_name
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @f_0(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
func.func private @f_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
