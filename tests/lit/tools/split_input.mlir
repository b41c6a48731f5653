// RUN: sdy-opt %s --split-input-file | filecheck %s
// RUN: sdy-opt %s --split-input-file --cse --mlir-print-debuginfo | filecheck %s --check-prefix LINES

// CHECK-LABEL: func.func @first
// LINES: loc("-":6:
func.func @first() { return }

// -----

// CHECK: // -----
// CHECK-LABEL: func.func @second
// LINES: loc("-":13:
func.func @second() { return }

// -----

// The same symbol again is no error: this is another module.
// CHECK: // -----
// CHECK-LABEL: func.func @first
func.func @first() { return }
