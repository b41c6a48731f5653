// RUN: sdy-opt %s --canonicalize | filecheck %s

// Collectives that do nothing, undo each other, or are one collective in two steps.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>

// CHECK-LABEL: func.func @no_axes
// CHECK-NEXT:    return %arg0
func.func @no_axes(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_reduce {} %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %3 = sdy.reduce_scatter [{}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @permuted_to_the_same
// CHECK-NEXT:    return %arg0
func.func @permuted_to_the_same(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @permuted
// CHECK-NEXT:    %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]>
// CHECK-NEXT:    return %0
func.func @permuted(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The gather stays: a collective has effects on other devices.
// CHECK-LABEL: func.func @gathered_and_sliced
// CHECK-NEXT:    sdy.all_gather
// CHECK-NEXT:    return %arg0
func.func @gathered_and_sliced(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @unreduced_and_reduced
// CHECK-NEXT:    sdy.replicated_to_unreduced
// CHECK-NEXT:    return %arg0
func.func @unreduced_and_reduced(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The axes are compared in the mesh's order, halves of one axis as one.
// CHECK-LABEL: func.func @sharded_to_unreduced_and_reduced
// CHECK-NEXT:    sdy.sharded_to_unreduced
// CHECK-NEXT:    %1 = sdy.all_gather [{"z":(2)2, "x"}, {"z":(1)2}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT:    return %1
func.func @sharded_to_unreduced_and_reduced(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(2)2, "x"}, {"z":(1)2}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharded_to_unreduced [{"z":(2)2, "x"}, {"z":(1)2}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"x", "z"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"x", "z"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @two_all_to_alls
// CHECK-NEXT:    %0 = sdy.all_to_all [{"x"}: 0->2, {"y"}: 1->3] %arg0 out_sharding=<@mesh, [{}, {}, {"x"}, {"y"}]>
// CHECK-NEXT:    return %0
func.func @two_all_to_alls(
    %arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}) -> tensor<8x8x8x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 1->3] %arg0 out_sharding=<@mesh, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->2] %0 out_sharding=<@mesh, [{}, {}, {"x"}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// CHECK-LABEL: func.func @all_to_alls_on_one_dimension
// CHECK-NEXT:    %0 = sdy.all_to_all [{"x"}: 0->1]
// CHECK-NEXT:    %1 = sdy.all_to_all [{"x"}: 1->2] %0
// CHECK-NEXT:    return %1
func.func @all_to_alls_on_one_dimension(
    %arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<8x8x8xf32> {
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}, {}]> : tensor<8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 1->2] %0 out_sharding=<@mesh, [{}, {}, {"x"}]> : tensor<8x8x8xf32>
  return %1 : tensor<8x8x8xf32>
}

// CHECK-LABEL: func.func @reduced_and_sliced
// CHECK-NEXT:    %0 = sdy.reduce_scatter [{}, {"x"}] %arg0 out_sharding=<@mesh, [{"y"}, {"x"}]>
// CHECK-NEXT:    return %0
func.func @reduced_and_sliced(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is sliced but not reduced is sliced after it; the halves of "z" become one axis.
// CHECK-LABEL: func.func @reduced_and_sliced_further
// CHECK-NEXT:    %0 = sdy.reduce_scatter [{"z":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"z"}, {}]>
// CHECK-NEXT:    %1 = sdy.all_slice [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{"z", "x"}, {"y"}]>
// CHECK-NEXT:    %2 = stablehlo.add %1, %1
// CHECK-NEXT:    return %2
func.func @reduced_and_sliced_further(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(1)2}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"z":(2)2} %arg0 out_sharding=<@mesh, [{"z":(1)2}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"z":(2)2, "x"}, {"y"}] %0 out_sharding=<@mesh, [{"z", "x"}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{"z":(2)2, "x"}, {"y"}] %0 out_sharding=<@mesh, [{"z", "x"}, {"y"}]> : tensor<8x8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @reduced_and_sliced_otherwise
// CHECK-NEXT:    sdy.all_reduce
// CHECK-NEXT:    sdy.all_slice
func.func @reduced_and_sliced_otherwise(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y", "x"}, {}] %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The operand has no sharding, which the second op would not accept.
// CHECK-LABEL: func.func @no_axes_but_a_sharding
// CHECK-NEXT:    %0 = sdy.all_reduce {} %arg0
// CHECK-NEXT:    %1 = sdy.replicated_to_unreduced {"y"} %0
func.func @no_axes_but_a_sharding(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"y"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
