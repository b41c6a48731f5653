// RUN: sdy-opt %s --sdy-reshard-to-collectives | filecheck %s
// RUN: sdy-opt %s --sdy-reshard-to-collectives='keep-redundant-reshards=true' | filecheck %s --check-prefix=KEEP

// Every reshard becomes the collectives that do it: slice, permute, all-to-all, gather.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>
sdy.mesh @other_order = <["x"=2, "y"=2, "z"=4], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>
sdy.mesh @other_axes = <["x"=2, "w"=8]>
sdy.mesh @six = <["s"=6]>

// CHECK-LABEL: func.func @redundant
// CHECK-NEXT:    return %arg0
// KEEP-LABEL:  func.func @redundant
// KEEP-NEXT:     %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// KEEP-NEXT:     return %0
func.func @redundant(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-NEXT:    %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT:    return %0
func.func @slice(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// The half of "z" that goes is gathered.
// CHECK-LABEL: func.func @gather
// CHECK-NEXT:    %0 = sdy.all_gather [{"z":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"z":(1)2}, {}]>
// CHECK-NEXT:    return %0
func.func @gather(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"z":(1)2}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// The tensor is sliced before it moves: the all-to-all carries both axes.
// CHECK-LABEL: func.func @slice_and_all_to_all
// CHECK-NEXT:    %0 = sdy.all_slice [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {}]>
// CHECK-NEXT:    %1 = sdy.all_to_all [{"x", "y"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x", "y"}]>
// CHECK-NEXT:    return %1
func.func @slice_and_all_to_all(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x", "y"}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @permute
// CHECK-NEXT:    %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {"z":(1)2}]>
// CHECK-NEXT:    return %0
func.func @permute(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {"z":(1)2}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @devices_in_another_order
// CHECK-NEXT:    %0 = sdy.collective_permute %arg0 out_sharding=<@other_order, [{"x"}, {}]>
// CHECK-NEXT:    return %0
func.func @devices_in_another_order(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@other_order, [{"x"}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// No sequence of these collectives leads to a mesh with other axes, but to no axes at all one does.
// CHECK-LABEL: func.func @to_other_axes
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@other_axes, [{"w"}, {}]>
// CHECK-NEXT:    %1 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT:    return %0, %1
func.func @to_other_axes(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %0 = sdy.reshard %arg0 <@other_axes, [{"w"}, {}]> : tensor<16x16xf32>
  %1 = sdy.reshard %arg0 <@other_axes, [{}, {}]> : tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// A reshard starts from what the one before it ends with; a tensor without a sharding is whole.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT:    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT:    return %1
func.func @chain(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<16x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// A propagation barrier moves nothing: the collectives start before it.
// CHECK-LABEL: func.func @barrier
// CHECK:         sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
func.func @barrier(
    %arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<16x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// Parts of an axis that no split of it has together: everything is gathered first.
// CHECK-LABEL: func.func @unrelated_parts
// CHECK-NEXT:    %0 = sdy.all_gather [{"s":(1)2}, {}] %arg0 out_sharding=<@six, [{}, {}]>
// CHECK-NEXT:    %1 = sdy.all_slice [{}, {"s":(1)3}] %0 out_sharding=<@six, [{}, {"s":(1)3}]>
// CHECK-NEXT:    return %1
func.func @unrelated_parts(
    %arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@six, [{"s":(1)2}, {}]>}) -> tensor<6x6xf32> {
  %0 = sdy.reshard %arg0 <@six, [{}, {"s":(1)3}]> : tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
