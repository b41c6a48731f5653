// Applying constraints counts as steps of propagation, and later steps go on from there. What a
// constraint was applied to has it as the origin of its axes.
//
// RUN: sdy-opt %s --sdy-apply-sharding-constraints='debug-sharding-origins=true debug-propagation-edge-sharding=true' | filecheck %s --check-prefix=APPLIED
// RUN: sdy-opt %s --sdy-apply-sharding-constraints='debug-sharding-origins=true debug-propagation-edge-sharding=true' --sdy-basic-propagate='debug-sharding-origins=true debug-propagation-edge-sharding=true' | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // APPLIED: stablehlo.add %arg0, %arg1 {sdy.sharding = {{.*}}, sdy.sharding_origins = [{x = "constraint_0"}]}
  // CHECK: stablehlo.add %arg0, %arg1 {sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"x" = result-0 -> [operand-0, operand-1]}]}]>, {{.*}}, sdy.sharding_origins = [{x = "constraint_0"}]}
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x8xf32>
  // APPLIED: sharding_constraint {{.*}}<[{step-0 = [{"x" = result-0 -> [operand-0]}]}]>, sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {x = "self"}
  // CHECK: sharding_constraint {{.*}}<[{step-0 = [{"x" = result-0 -> [operand-0]}]}]>, sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {x = "self"}
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  // APPLIED: stablehlo.negate %1 : tensor
  // CHECK: stablehlo.negate {{.*}}<[{step-2 = [{"x" = operand-0 -> [result-0]}]}]>
  %2 = stablehlo.negate %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
