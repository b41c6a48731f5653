// Three small passes on one program: constraints become reshards, shardings are closed, and rules
// that no user wrote go.
//
// RUN: sdy-opt %s --sdy-sharding-constraint-to-reshard | filecheck %s --check-prefix RESHARD
// RUN: sdy-opt %s --sdy-close-shardings | filecheck %s --check-prefix CLOSED
// RUN: sdy-opt %s --sdy-drop-sharding-rules | filecheck %s --check-prefix RULES

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CLOSED-LABEL: func @main
// CLOSED-SAME:    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CLOSED-SAME:    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @main(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}], replicated={"y"}>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  // RESHARD:     %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"x", ?}]> {note = "kept", sdy.sharding_rule
  // CLOSED-NEXT: %[[R:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
  // RULES:       %[[R:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> {note = "kept"}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> {note = "kept", sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  // RESHARD-NEXT: stablehlo.negate %[[R]]
  // CLOSED-NEXT:  stablehlo.negate %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>
  // RULES-NEXT:   stablehlo.negate %[[R]] {{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>
  %1 = stablehlo.negate %0 {
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}], unreduced={"y"}>]>,
    sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
