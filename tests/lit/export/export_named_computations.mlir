// RUN: sdy-opt %s --sdy-export-named-computations | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %0:2 = call @f_0(%arg0, %arg0) {note = 1 : i32, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{?}]>]>}
// CHECK-NEXT: stablehlo.add %0#0, %0#1
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = sdy.named_computation<"f">(%arg0, %arg0) in_shardings=[<@mesh, [{?}]>, <@mesh, [{"y"}]>] (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
    // The shardings of edges take the place of those from before.
    %3 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    %4 = sdy.named_computation<"g">(%3) (%arg3: tensor<8xf32>) {
      %5 = stablehlo.negate %arg3 : tensor<8xf32>
      sdy.return %5 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %4, %arg2 : tensor<8xf32>, tensor<8xf32>
  } {execution_thread = "other", note = 1 : i32} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  %2 = stablehlo.add %1, %0#1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func private @f() {
  return
}

// CHECK-LABEL: func.func private @g(%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-SAME: attributes {sdy.original_func_name = "g"}
// CHECK-NEXT: %0 = stablehlo.negate %arg0
// CHECK-NEXT: return %0

// CHECK-LABEL: func.func private @f_0(
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}
// CHECK-SAME: attributes {execution_thread = "other", sdy.original_func_name = "f"}
// CHECK-NEXT: %0 = call @g(%arg0)
// CHECK-NEXT: return %0, %arg1
