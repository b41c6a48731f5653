// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true' | filecheck %s
// RUN: sdy-opt %s --sdy-insert-explicit-reshards | filecheck %s --check-prefix=LESS

// The full version makes the shardings of every op go together; by default few ops are looked at.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>
sdy.mesh @reversed = <["x"=2, "y"=2, "z"=4], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>

// Operand and result are of one size and split into as many parts: the result is resharded.
// CHECK-LABEL: func.func @unary
// CHECK-NEXT:    %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT:    return %1
// LESS-LABEL:  func.func @unary
// LESS-NEXT:     %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// LESS-NEXT:     return %0
func.func @unary(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Two of three tensors are split along "y".
// CHECK-LABEL: func.func @most_elements_win
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
func.func @most_elements_win(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// "x" cannot split rows and columns of the product; the larger operand keeps it.
// CHECK-LABEL: func.func @one_axis_for_two_dimensions
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
// CHECK-NEXT:    stablehlo.dot %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// LESS-LABEL:  func.func @one_axis_for_two_dimensions
// LESS-NEXT:     stablehlo.dot %arg0, %arg1
func.func @one_axis_for_two_dimensions(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// Partial sums are added up; the reshard of the result comes after that.
// CHECK-LABEL: func.func @contracted_dimension
// CHECK-NEXT:    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT:    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x4xf32>
// CHECK-NEXT:    %2 = sdy.reshard %1 <@mesh, [{"z"}, {}]> : tensor<8x4xf32>
// CHECK-NEXT:    return %2
// LESS-LABEL:  func.func @contracted_dimension
// LESS-NEXT:     stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>}
// LESS-NEXT:     return
func.func @contracted_dimension(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>}
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// In both versions: a result that is split along what is summed up is cheaper to reshard.
// LESS-LABEL:  func.func @small_result
// LESS-NEXT:     %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// LESS-NEXT:     %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// LESS-NEXT:     return %1
func.func @small_result(
    %arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %arg1: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A dimension that must be whole gives its axis to one that may be split.
// CHECK-LABEL: func.func @axis_moves_to_the_batch
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]> : tensor<4x8x8xf32>
// CHECK-NEXT:    %1 = stablehlo.cholesky %0{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>}
// CHECK-NEXT:    %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}]> : tensor<4x8x8xf32>
func.func @axis_moves_to_the_batch(
    %arg0: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.cholesky %arg0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// In both versions: operands of a concatenation are brought to the sharding of its result.
// CHECK-LABEL: func.func @concatenate
// CHECK-NEXT:    %0 = sdy.reshard %arg1 <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.concatenate %arg0, %0
// LESS-LABEL:  func.func @concatenate
// LESS-NEXT:     %0 = sdy.reshard %arg1 <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// LESS-NEXT:     stablehlo.concatenate %arg0, %0
func.func @concatenate(
    %arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<4x8xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What flows into a loop is sharded as the loop says, right where it was made.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK:         stablehlo.while(%iterArg = %0, %iterArg_0 = %arg1)
// CHECK:           %[[SUM:.*]] = stablehlo.add %iterArg, %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT:      stablehlo.return %[[SUM]], %iterArg_0
func.func @loop(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<i1>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8xf32>, tensor<i1>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, []>]>}
    cond {
    stablehlo.return %iterArg_0 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    stablehlo.return %1, %iterArg_0 : tensor<8xf32>, tensor<i1>
  }
  return %0#0 : tensor<8xf32>
}

// The body of a manual computation returns what is local along "x".
// CHECK-LABEL: func.func @manual
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x", "y"}]> : tensor<8xf32>
// CHECK-NEXT:    sdy.manual_computation(%0)
// CHECK:           %[[SINE:.*]] = stablehlo.sine
// CHECK-NEXT:      %[[LOCAL:.*]] = sdy.reshard %[[SINE]] <@mesh, [{"z"}]> : tensor<4xf32>
// CHECK-NEXT:      sdy.return %[[LOCAL]]
func.func @manual(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "z"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %1 = stablehlo.sine %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// In both versions calls get what the function asks for.
// CHECK-LABEL: func.func @call
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    call @callee(%0)
// LESS-LABEL:  func.func @call
// LESS-NEXT:     %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// LESS-NEXT:     call @callee(%0)
func.func @call(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = call @callee(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @callee(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// What is returned is sharded as the function says.
// CHECK-LABEL: func.func @returned
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT:    return %arg0, %0
// LESS-LABEL:  func.func @returned
// LESS-NEXT:     return %arg0, %arg0
func.func @returned(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>) {
  return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
}

// Devices in another order are another place, though the axes are the same.
// CHECK-LABEL: func.func @order_of_devices
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT:    stablehlo.add %0, %arg1
func.func @order_of_devices(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// In both versions partial sums are added up where they are used as if they were whole, and a
// reshard that makes a split axis unreduced is a collective of its own.
// CHECK-LABEL: func.func @unreduced
// CHECK-NEXT:    %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT:    %1 = stablehlo.sine %0
// CHECK-NEXT:    %2 = sdy.sharded_to_unreduced {{\[}}{"x"}{{\]}} %arg1 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
// CHECK-NEXT:    return %1, %2
// LESS-LABEL:  func.func @unreduced
// LESS-NEXT:     %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// LESS-NEXT:     %1 = stablehlo.sine %0
// LESS-NEXT:     %2 = sdy.sharded_to_unreduced {{\[}}{"x"}{{\]}} %arg1 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
func.func @unreduced(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An op with a rule of the user's is left alone.
// CHECK-LABEL: func.func @custom_rule
// CHECK-NEXT:    stablehlo.custom_call @mine(%arg0)
// CHECK-NEXT:    return
func.func @custom_rule(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.custom_call @mine(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>,
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
