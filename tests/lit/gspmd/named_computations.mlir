// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// A named computation becomes a call, and data-flow edges leave theirs where the data is from.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL:.*]] = call @f(%arg0) {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BARRIER:.*]] = stablehlo.optimization_barrier {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} %[[CALL]] : tensor<8xf32>
// CHECK-NEXT: return %[[BARRIER]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.data_flow_edge %arg0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>] (%arg1: tensor<8xf32>) {
    %3 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    %2 = stablehlo.negate %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %4 = stablehlo.optimization_barrier %1 : tensor<8xf32>
  %5 = sdy.data_flow_edge %4 sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @f
// CHECK-SAME: (%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}) -> tensor<8xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : tensor<8xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xf32>
