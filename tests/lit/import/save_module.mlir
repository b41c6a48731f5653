// The module as it is between two passes goes to a file, whose name may begin with a number.
//
// RUN: rm -rf %t.d
// RUN: sdy-opt %s --sdy-save-module='dump-directory=%t.d file-name=before dump-index=3' --sdy-basic-propagate --sdy-save-module='dump-directory=%t.d file-name=after' | filecheck %s --check-prefix=AFTER
// RUN: filecheck %s --input-file=%t.d/03.before.mlir --check-prefix=BEFORE
// RUN: filecheck %s --input-file=%t.d/after.mlir --check-prefix=AFTER
//
// Where it cannot be written, that is a warning.
//
// RUN: sdy-opt %s --sdy-save-module='dump-directory=%s file-name=after' 2>&1 | filecheck %s --check-prefix=WARNING
// WARNING: warning: error when writing file {{.*}}save_module.mlir/after.mlir: File exists

sdy.mesh @mesh = <["x"=2]>

func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  // BEFORE: stablehlo.negate %arg0 : tensor<4xf32>
  // AFTER: stablehlo.negate %arg0 {sdy.sharding
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
