// What is printed of a module, and how.
//
// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt < %s | filecheck %s
// RUN: sdy-opt - -- < %s | filecheck %s
// RUN: sdy-opt %s --emit-bytecode | sdy-opt | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: sdy-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix LOCATION
// RUN: sdy-opt %s --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s --check-prefix LOCAL
// RUN: sdy-opt %s --mlir-elide-elementsattrs-if-larger 2 | filecheck %s --check-prefix ELIDED
// RUN: sdy-opt %s -o %t.mlir && filecheck %s --input-file %t.mlir

// CHECK: sdy.mesh @mesh = <["x"=2]>
sdy.mesh @mesh = <["x"=2]>

// CHECK: func.func @main(%[[ARG:.*]]: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// GENERIC: "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}]
// LOCATION: #[[LOC:.*]] = loc("{{.*}}printing.mlir":{{[0-9]+}}:
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  // CHECK: stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
  // ELIDED: stablehlo.constant dense_resource<__elided__>
  // LOCAL: stablehlo.constant {{.*}} loc("{{.*}}printing.mlir":{{[0-9]+}}:
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: stablehlo.add %[[ARG]]
  // GENERIC: "stablehlo.add"(%
  %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
