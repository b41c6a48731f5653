// The module between passes, the pipeline as it runs, and times. All of it on standard error.
//
// RUN: sdy-opt %s --dump-pass-pipeline --cse --symbol-dce 2>&1 | filecheck %s --check-prefix DUMP
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(cse,cse),symbol-dce)' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix NESTED
// RUN: sdy-opt %s --cse --symbol-dce --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix AFTER
// RUN: sdy-opt %s --cse --symbol-dce --mlir-print-ir-after=cse 2>&1 | filecheck %s --check-prefix AFTER-ONE
// RUN: sdy-opt %s --cse --symbol-dce --mlir-print-ir-before-all 2>&1 | filecheck %s --check-prefix BEFORE-ALL
// RUN: sdy-opt %s --cse --symbol-dce --mlir-print-ir-before=symbol-dce 2>&1 | filecheck %s --check-prefix BEFORE
// RUN: sdy-opt %s --cse --cse --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix CHANGE
// RUN: sdy-opt %s --cse --symbol-dce --mlir-timing --verify-each 2>&1 | filecheck %s --check-prefix EACH
// RUN: sdy-opt %s --cse --symbol-dce --mlir-timing --verify-each=false 2>&1 | filecheck %s --check-prefix LAST
// RUN: sdy-opt %s --cse --mlir-timing 2>&1 | filecheck %s --check-prefix TIMING
// RUN: sdy-opt %s --cse --mlir-print-ir-after-all 2>%t.err | filecheck %s --check-prefix STDOUT

// DUMP: Pass Manager with 2 passes:
// DUMP-NEXT: builtin.module(cse,symbol-dce)

// NESTED: builtin.module(func.func(cse,cse),symbol-dce)

// AFTER: IR Dump After cse (cse)
// AFTER: func.func private @unused
// AFTER: IR Dump After {{.*}}(symbol-dce)
// AFTER-NOT: func.func private @unused

// AFTER-ONE: IR Dump After cse (cse)
// AFTER-ONE-NOT: IR Dump

// BEFORE-ALL: IR Dump Before cse (cse)
// BEFORE-ALL: IR Dump Before {{.*}}(symbol-dce)
// BEFORE-ALL-NOT: IR Dump After

// BEFORE-NOT: IR Dump Before cse (cse)
// BEFORE: IR Dump Before {{.*}}(symbol-dce)
// BEFORE-NOT: IR Dump After

// CHANGE: IR Dump After cse (cse)
// CHANGE-NOT: IR Dump After cse (cse)

// TIMING: Execution time report
// TIMING: Parser
// TIMING-NEXT: cse
// TIMING: Output
// TIMING: Total

// EACH: cse
// EACH-NEXT: (V) verifier
// EACH-NEXT: symbol-dce
// EACH-NEXT: (V) verifier

// LAST: cse
// LAST-NEXT: symbol-dce
// LAST-NEXT: (V) verifier

// STDOUT-NOT: IR Dump
// STDOUT: func.func @main
func.func private @unused() { return }
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
  %1 = stablehlo.add %arg0, %arg0 : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
