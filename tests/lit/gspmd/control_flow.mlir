// RUN: sdy-opt %s --sdy-to-gspmd | filecheck %s

// Tensors in the bodies of loops and branches are sharded like any other. The body of a reduce
// works on scalars of one device and says nothing.

sdy.mesh @mesh = <["x"=8]>

// CHECK-LABEL: func.func @branches
func.func @branches(%index: tensor<i32>, %arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: "stablehlo.case"
  %0 = "stablehlo.case"(%index) ({
    // CHECK: stablehlo.negate {{.*}} {mhlo.sharding = "{devices=[8]<=[8]}"}
    %1 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    // CHECK: stablehlo.cosine {{.*}} {mhlo.sharding = "{replicated}"}
    %1 = stablehlo.cosine %arg0 : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  // CHECK: {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<i32>)
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%arg0: tensor<8xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce
  // CHECK-SAME: mhlo.sharding = "{replicated}"
  %1 = stablehlo.reduce(%arg0 init: %0) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
      %2 = stablehlo.add %a, %b : tensor<f32>
      // CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<f32>
      %3 = stablehlo.maximum %2, %a : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
  return %1 : tensor<f32>
}

// XLA lets a loop capture what it does not change, and would then find an entry too many in
// the loop's sharding: it is captured here already, with the sharding that it has in the loop.
// CHECK-LABEL: func.func @loop
func.func @loop(%limit: tensor<i32>, %arg0: tensor<8xf32>, %weights: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[LIMIT:.*]] = mhlo.copy %arg0 {mhlo.sharding = "{replicated}"}
  // CHECK: %[[WEIGHTS:.*]] = mhlo.copy %arg2 {mhlo.sharding = "{devices=[8]<=[8]}"}
  // CHECK: %[[LOOP:.*]]:2 = stablehlo.while(%[[STEP:.*]] = %{{.*}}, %[[STATE:.*]] = %arg1)
  // CHECK-SAME: mhlo.sharding = "{{[{][{]}}replicated}, {devices=[8]<=[8]}}"
  %0:4 = stablehlo.while(%i = %zero, %n = %limit, %state = %arg0, %w = %weights)
      : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, []>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>}
  cond {
    // CHECK: stablehlo.compare LT, %[[STEP]], %[[LIMIT]]
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.add %[[STATE]], %[[WEIGHTS]] {mhlo.sharding = "{devices=[8]<=[8]}"}
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %state, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1, %n, %2, %w : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  // CHECK: return %[[LOOP]]#1, %[[WEIGHTS]]
  return %0#2, %0#3 : tensor<8xf32>, tensor<8xf32>
}
