// RUN: sdy-opt %s --xla-sdy-open-while-free-vars-sharding | filecheck %s

// What a loop captures may be sharded further inside.

sdy.mesh @mesh = <["x"=2]>

// CHECK: sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<i1>) -> tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{?}]> : tensor<8xf32>
// CHECK-NEXT: %[[WHILE:.*]] = stablehlo.while(%iterArg = %arg1) : tensor<8xf32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg2 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %iterArg, %[[CONSTRAINT]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_2:.*]] = stablehlo.add %[[ADD]], %[[CONSTRAINT]] : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %[[ADD_2]] : tensor<8xf32>
// CHECK: %[[ADD_3:.*]] = stablehlo.add %[[WHILE]], %arg0 : tensor<8xf32>
// CHECK-NEXT: return %[[ADD_3]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<i1>) -> tensor<8xf32> {
  %0 = stablehlo.while(%iterArg = %arg1) : tensor<8xf32>
    cond {
    stablehlo.return %arg2 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %arg0 : tensor<8xf32>
    %2 = stablehlo.add %1, %arg0 : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  %3 = stablehlo.add %0, %arg0 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
