// RUN: sdy-opt %s --sdy-to-gspmd | filecheck %s

// A function that is called in a manual computation is local there, with all that it calls; for
// calls elsewhere it stays as it was.

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg2: tensor<4xf32>) {
    %2 = func.call @outer(%arg2) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: call @outer(%arg1) {mhlo.sharding = "{replicated}"}
  %1 = func.call @outer(%arg1) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @outer(
// CHECK-SAME: %arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"}
// CHECK: call @inner(%arg0)
func.func private @outer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @inner(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @outer_0(
// CHECK-SAME: %arg0: tensor<4xf32> {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"}
// CHECK: call @inner_1(%arg0) {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"}

// CHECK-LABEL: func.func private @inner(
// CHECK: stablehlo.negate %arg0 {mhlo.sharding = "{replicated}"}
func.func private @inner(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @inner_1(
// CHECK: stablehlo.negate %arg0 {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body(
// CHECK: call @outer_0(%arg0)
