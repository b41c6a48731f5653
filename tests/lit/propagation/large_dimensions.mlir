// A dimension may be longer than MLIR can read as the size of a factor.
//
// RUN: sdy-opt %s --sdy-basic-propagate=keep-sharding-rules=true | filecheck %s
// RUN: sdy-opt %s --sdy-populate-op-sharding-rules | filecheck %s

// CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=3000000000}>
func.func @main(%arg0: tensor<3000000000xf32>) -> tensor<3000000000xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<3000000000xf32>
  return %0 : tensor<3000000000xf32>
}
