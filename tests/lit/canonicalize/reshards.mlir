// RUN: sdy-opt %s --canonicalize | filecheck %s

// A reshard takes the place of the one before it, and is not done twice.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @only_the_last_counts
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
// CHECK-NEXT:    return %0
func.func @only_the_last_counts(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @the_first_is_used_too
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
// CHECK-NEXT:    %1 = stablehlo.negate %0 : tensor<8x16xf32>
// CHECK-NEXT:    %2 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
// CHECK-NEXT:    return %1, %2
func.func @the_first_is_used_too(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.negate %0 : tensor<8x16xf32>
  %2 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
  return %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>
}

// A user that nothing uses does not count.
// CHECK-LABEL: func.func @a_dead_user
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
// CHECK-NEXT:    return %0
func.func @a_dead_user(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x16xf32>
  %2 = stablehlo.negate %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// Open and closed dimensions are split alike.
// CHECK-LABEL: func.func @done_once
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
// CHECK-NEXT:    %1 = stablehlo.negate %0 : tensor<8x16xf32>
// CHECK-NEXT:    %2 = stablehlo.add %1, %0 : tensor<8x16xf32>
// CHECK-NEXT:    return %2
func.func @done_once(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.negate %0 : tensor<8x16xf32>
  %2 = sdy.reshard %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x16xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// Eight rows split in two are the same halves as 128 elements split in two.
// CHECK-LABEL: func.func @through_a_reshape
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
// CHECK-NEXT:    %1 = stablehlo.reshape %0 : (tensor<8x16xf32>) -> tensor<128xf32>
// CHECK-NEXT:    return %0, %1
func.func @through_a_reshape(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<128xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.reshape %arg0 : (tensor<8x16xf32>) -> tensor<128xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<128xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<128xf32>
}

// Sixteen columns split in two are not.
// CHECK-LABEL: func.func @other_elements_through_a_reshape
// CHECK-COUNT-2: sdy.reshard
func.func @other_elements_through_a_reshape(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<128xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<8x16xf32>
  %1 = stablehlo.reshape %arg0 : (tensor<8x16xf32>) -> tensor<128xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<128xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<128xf32>
}

// CHECK-LABEL: func.func @through_a_transpose
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
// CHECK-NEXT:    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:    return %0, %1
func.func @through_a_transpose(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<16x8xf32>
}

// A collective on the second result needs a sharding, which the reshape would not have.
// CHECK-LABEL: func.func @a_collective_needs_the_second
// CHECK-COUNT-2: sdy.reshard
// CHECK:         sdy.all_gather [{"x"}] %{{.*}} out_sharding=<@mesh, [{}]>
func.func @a_collective_needs_the_second(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<128xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  %1 = stablehlo.reshape %arg0 : (tensor<8x16xf32>) -> tensor<128xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<128xf32>
  %3 = sdy.all_gather [{"x"}] %2 out_sharding=<@mesh, [{}]> : tensor<128xf32>
  return %0, %3 : tensor<8x16xf32>, tensor<128xf32>
}

// Each branch is a block of its own.
// CHECK-LABEL: func.func @not_across_blocks
// CHECK-COUNT-2: sdy.reshard
func.func @not_across_blocks(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = "stablehlo.case"(%arg1) ({
    %2 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %arg0 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
