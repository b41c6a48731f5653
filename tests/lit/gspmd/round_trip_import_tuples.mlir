// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline | filecheck %s

// Where XLA has made tuples of the arguments and results, the module says how they are sharded.

module attributes {mhlo.frontend_attributes = {
    xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>}",
    xla.sdy.tuple_args_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>, <@mesh, [{}]>]>",
    xla.sdy.tuple_results_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>"}} {
  // CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>

  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
  // CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  // CHECK-NEXT: return %[[ADD]] : tensor<8xf32>
  func.func @main(%arg0: tuple<tensor<8xf32>, tensor<8xf32>>) -> tuple<tensor<8xf32>> {
    %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
    %1 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    %3 = stablehlo.tuple %2 : tuple<tensor<8xf32>>
    return %3 : tuple<tensor<8xf32>>
  }
}
