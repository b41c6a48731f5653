// RUN: sdy-opt %s --canonicalize | filecheck %s

// Manual computations lose operands that they do not use, and go where nothing is manual.

sdy.mesh @mesh = <["x"=2, "one"=1, "another"=1]>

// CHECK-LABEL: func.func @unused_operands
// CHECK-NEXT:    %0 = sdy.manual_computation(%arg0, %arg2) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>]
// CHECK-SAME:        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT:      %1 = stablehlo.add %arg3, %arg4 : tensor<4xf32>
func.func @unused_operands(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg1 : tensor<8xf32>
  %1 = sdy.manual_computation(%arg0, %0, %arg2, %arg0)
      in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{}]>, <@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
      (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>, %arg5: tensor<4xf32>, %arg6: tensor<4xf32>) {
    %2 = stablehlo.add %arg3, %arg5 : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @axes_of_size_one
// CHECK-NEXT:    %0 = stablehlo.negate %arg0 : tensor<8xf32>
// CHECK-NEXT:    %1 = stablehlo.add %0, %0 : tensor<8xf32>
// CHECK-NEXT:    return %0, %1
func.func @axes_of_size_one(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"one", "x"}]>]
      out_shardings=[<@mesh, [{"one"}]>, <@mesh, [{"one"}]>] manual_axes={"one"} (%arg1: tensor<8xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<8xf32>
    %2 = stablehlo.add %1, %1 : tensor<8xf32>
    sdy.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// Without operands and results it is inlined whatever its axes, for what it does besides.
// CHECK-LABEL: func.func @no_values
// CHECK-NEXT:    stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
// CHECK-NEXT:    return
func.func @no_values() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// The outer one is inlined, the middle one stays, and reshards meet where the inner one was.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    %0 = sdy.manual_computation(%arg0)
// CHECK-SAME:        manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT:      %1 = sdy.reshard %arg1 <@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT:      sdy.return %1
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0
func.func @nested(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"one"}]>]
      out_shardings=[<@mesh, [{"one"}]>] manual_axes={"one"} (%arg1: tensor<8xf32>) {
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<4xf32>) {
      %2 = sdy.reshard %arg2 <@mesh, [{"another"}]> : tensor<4xf32>
      %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"another"}]>]
          out_shardings=[<@mesh, [{"another"}]>] manual_axes={"another"} (%arg3: tensor<4xf32>) {
        %4 = sdy.reshard %arg3 <@mesh, [{}]> : tensor<4xf32>
        sdy.return %4 : tensor<4xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
