// The module is printed after the pass that fails, and after no other.
//
// RUN: not sdy-opt %s --cse --stablehlo-refine-shapes --mlir-print-ir-after-failure 2>&1 | filecheck %s

// CHECK-NOT: IR Dump After cse
// CHECK: IR Dump After stablehlo-refine-shapes (stablehlo-refine-shapes) Failed
// CHECK: func.func @first
// CHECK: func.func @second
// CHECK: no more than one function or a `main` function
func.func @first() { return }
func.func @second() { return }
