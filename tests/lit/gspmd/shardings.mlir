// RUN: sdy-opt %s --sdy-to-gspmd | filecheck %s

// Arguments, results and ops of a propagated program: each says how it is sharded, and what has
// no sharding is replicated. Nothing of the sdy dialect is left.

// CHECK-NOT: sdy

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @listed = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @one_device = <[], device_ids=[3]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x16xf32> {jax.buffer_donor = true, mhlo.sharding = "{devices=[2,4]<=[8]}"}
// CHECK-SAME: %arg1: tensor<16x4xf32> {mhlo.sharding = "{replicated}"}
// CHECK-SAME: -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"})
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, jax.buffer_donor = true},
    %arg1: tensor<16x4xf32>)
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: stablehlo.dot_general
  // CHECK-SAME: {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.negate
  // CHECK-SAME: {mhlo.sharding = "{replicated}"}
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @parts_of_axes
// CHECK-SAME: "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}"
func.func @parts_of_axes(%arg0: tensor<8x8xf32>
    {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {"y":(2)2}], replicated={"x"}>}) {
  return
}

// CHECK-LABEL: func.func @partial_sums
// CHECK-SAME: "{devices=[2,4]<=[8] last_tile_dims={unreduced}}"
func.func @partial_sums(%arg0: tensor<8xf32>
    {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) {
  return
}

// CHECK-LABEL: func.func @meshes
// CHECK-SAME: "{devices=[2,2]0,2,1,3}"
// CHECK-SAME: "{maximal device=3}"
func.func @meshes(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@listed, [{"x"}, {"y"}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one_device, []>}) {
  return
}

// CHECK-LABEL: func.func @several_results
func.func @several_results(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xf32> {
  // CHECK: "stablehlo.sort"
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    // CHECK: stablehlo.compare {{.*}}, FLOAT :
    %less = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  // CHECK: {mhlo.sharding = "{{[{][{]}}devices=[2,1,4]<=[8] last_tile_dim_replicate}, {replicated}}"}
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>}
      : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return %0#0 : tensor<4x8xf32>
}
