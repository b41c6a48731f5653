// RUN: sdy-opt %s --xla-sdy-round-trip-dedup-meshes --split-input-file | filecheck %s

// Of meshes with the same devices, that with names which users gave stays.

sdy.mesh @made_up = <["_axis_0"=2, "_axis_1"=4]>
sdy.mesh @mesh = <["a"=4, "b"=2]>
sdy.mesh @other_devices = <["a"=4, "b"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>

// CHECK: sdy.mesh @mesh = <["a"=4, "b"=2]>
// CHECK: sdy.mesh @other_devices = <["a"=4, "b"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>

// CHECK-LABEL: func.func @moved
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}, {"a":(2)2, "b", ?}]>}) -> tensor<8x8xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@other_devices, [{"a"}, {}]>]>} : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[NEGATE]] <@mesh, [{}, {"a"}]> : tensor<8x8xf32>
// CHECK-NEXT: return %[[CONSTRAINT]] : tensor<8x8xf32>
func.func @moved(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@made_up, [{"_axis_0"}, {"_axis_1", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@other_devices, [{"a"}, {}]>]>} : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// One that another has no parts for stays too.
// CHECK: sdy.mesh @two_and_three = <["x"=2, "y"=3]>
// CHECK: sdy.mesh @three_and_two = <["x"=3, "y"=2]>
sdy.mesh @two_and_three = <["x"=2, "y"=3]>
sdy.mesh @three_and_two = <["x"=3, "y"=2]>

// CHECK-LABEL: func.func @stays
// CHECK-SAME: (%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@two_and_three, [{"x"}, {}]>}, %arg1: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@three_and_two, [{"x"}, {}]>})
// CHECK-NEXT: return
func.func @stays(%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@two_and_three, [{"x"}, {}]>}, %arg1: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@three_and_two, [{"x"}, {}]>}) {
  return
}
