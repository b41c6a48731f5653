// RUN: sdy-opt %s --sdy-sharding-group-import --split-input-file --verify-diagnostics -o %t
// RUN: filecheck %s --input-file %t

// CHECK-LABEL: func.func @groups_that_share_a_value_are_one
func.func @groups_that_share_a_value_are_one(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg2 group_id=1
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  // CHECK-NEXT: return
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %c group_id=3 : tensor<4xf32>
  sdy.sharding_group %b group_id=12 : tensor<8xf32>
  sdy.sharding_group %a group_id=12 : tensor<8xf32>
  return
}

// -----

func.func @members_have_one_shape(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  // expected-error @+1 {{ShardingGroupOps values must have the same shape for groupId: 5}}
  sdy.sharding_group %b group_id=5 : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @members_are_on_one_side_of_a_manual_computation(%a: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], replicated={"x"}>] out_shardings=[<@mesh, [{}], replicated={"x"}>] manual_axes={"x"} (%b: tensor<8xf32>) {
    // expected-error @+1 {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 0}}
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
