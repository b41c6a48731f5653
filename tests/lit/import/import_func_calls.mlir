// RUN: sdy-opt %s --sdy-import-func-calls 2>/dev/null | filecheck %s
// RUN: sdy-opt %s --sdy-import-func-calls='add-data-flow-edges-on-named-computations=false' 2>/dev/null | filecheck %s --check-prefix BARE
// RUN: sdy-opt %s --sdy-import-func-calls --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A call turns into a named computation: with the body of the function, the shardings of its
// arguments and those of the call's results.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %0 = sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>] (%arg1: tensor<8xf32>) {
// CHECK-NEXT:   %4 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT:   %5 = stablehlo.add %4, %4 : tensor<8xf32>
// CHECK-NEXT:   sdy.return %5 : tensor<8xf32>
// CHECK-NEXT: } {execution_thread = "other", frontend = "note"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.named_computation<"f">(%1) in_shardings=[<@mesh, [{"x"}]>] (%arg1: tensor<8xf32>) {
// CHECK:      } {execution_thread = "other"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = sdy.data_flow_edge %2 : tensor<8xf32>
// CHECK-NEXT: return %3 : tensor<8xf32>
// CHECK-NOT: func.func

// BARE: sdy.named_computation<"f">
// BARE: sdy.named_computation<"f">
// BARE-NOT: sdy.data_flow_edge
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) {frontend = "note", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-warning @+1 {{function @f has multiple call ops, we need to clone the function body for each call}}
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {execution_thread = "other"} {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
