// RUN: sdy-opt %s --sdy-reshard-to-collectives | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A reshard that does nothing, of a barrier behind another reshard: its uses are those of what takes
// the place of that other one.
//
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[PERMUTED:.*]] = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT:    sdy.propagation_barrier %[[PERMUTED]]
// CHECK-NEXT:    return %[[PERMUTED]]
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<4xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}]> : tensor<4xf32>
  return %2 : tensor<4xf32>
}
