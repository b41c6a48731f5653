"""Small programs, each for one thing that an import or export pass must not miss."""

from __future__ import annotations

from textwrap import dedent

__all__ = ["EXPORT_PROGRAMS", "IMPORT_PROGRAMS", "OTHER_PROGRAMS"]

_MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


def _program(text: str) -> str:
    return _MESH + dedent(text)


IMPORT_PROGRAMS = {
    "constants in sharding groups": _program("""
        func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
          %c = stablehlo.constant dense<1.0> : tensor<4x4xf32>
          sdy.sharding_group %c group_id=0 : tensor<4x4xf32>
          sdy.sharding_group %c group_id=1 : tensor<4x4xf32>
          %0 = stablehlo.negate %c : tensor<4x4xf32>
          sdy.sharding_group %0 group_id=2 : tensor<4x4xf32>
          %1 = stablehlo.add %0, %a : tensor<4x4xf32>
          %2 = stablehlo.add %c, %0 : tensor<4x4xf32>
          return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
        }
    """),
    "expressions that share parts": _program("""
        func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %i = stablehlo.iota dim = 0 : tensor<8xf32>
          %s = stablehlo.constant dense<3.0> : tensor<f32>
          %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
          %0 = stablehlo.divide %i, %b : tensor<8xf32>
          %1 = stablehlo.cosine %0 : tensor<8xf32>
          %r = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
          %c = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
          %g = stablehlo.multiply %r, %c : tensor<8x8xf32>
          %2 = stablehlo.add %g, %a : tensor<8x8xf32>
          %3 = stablehlo.subtract %g, %g : tensor<8x8xf32>
          %4 = stablehlo.maximum %2, %g : tensor<8x8xf32>
          return %4, %3 : tensor<8x8xf32>, tensor<8x8xf32>
        }
    """),
    "scalars and their expansions": _program("""
        func.func @main(%a: tensor<f32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
          %d = stablehlo.constant dense<2.0> : tensor<f32>
          %0 = stablehlo.multiply %a, %d : tensor<f32>
          %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %u = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %3 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %4 = stablehlo.add %1, %2 : tensor<4xf32>
          %5 = stablehlo.add %1, %3 : tensor<4xf32>
          %6 = stablehlo.add %3, %b : tensor<4xf32>
          %7 = stablehlo.divide %d, %0 : tensor<f32>
          %8 = stablehlo.add %4, %5 : tensor<4xf32>
          %9 = stablehlo.add %8, %6 : tensor<4xf32>
          return %9, %7 : tensor<4xf32>, tensor<f32>
        }
    """),
    "constants inside and outside of regions": _program("""
        func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
          %c = stablehlo.constant dense<1.0> : tensor<4xf32>
          %i = stablehlo.constant dense<0> : tensor<i32>
          %unused = stablehlo.constant dense<0> : tensor<7xi32>
          %0:2 = stablehlo.while(%k = %i, %x = %c) : tensor<i32>, tensor<4xf32>
            cond {
              %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %1 : tensor<i1>
            } do {
              %d = stablehlo.constant dense<1> : tensor<i32>
              %1 = stablehlo.add %k, %d : tensor<i32>
              %2 = stablehlo.add %x, %c : tensor<4xf32>
              stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
            }
          %3 = stablehlo.add %0#1, %c : tensor<4xf32>
          return %3 : tensor<4xf32>
        }
    """),
    "calls of constant and of other functions": _program("""
        func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %c = stablehlo.constant dense<1.0> : tensor<4xf32>
          %0 = call @outer(%c) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = call @sorted(%c) : (tensor<4xf32>) -> tensor<4xf32>
          %2 = call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
          %3 = stablehlo.add %0, %a : tensor<4xf32>
          %4 = stablehlo.multiply %0, %1 : tensor<4xf32>
          %5 = stablehlo.add %3, %2 : tensor<4xf32>
          return %4, %5 : tensor<4xf32>, tensor<4xf32>
        }
        func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
        func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
          %c = stablehlo.constant dense<3.0> : tensor<4xf32>
          %0 = stablehlo.power %a, %c : tensor<4xf32>
          %1 = stablehlo.add %0, %c : tensor<4xf32>
          return %1 : tensor<4xf32>
        }
        func.func private @sorted(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.reverse %a, dims = [0] : tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """),
    "named computations that are constant": _program("""
        func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %c = stablehlo.constant dense<1.0> : tensor<4xf32>
          %0 = sdy.named_computation<"constant">(%c) (%x: tensor<4xf32>) {
            %1 = stablehlo.constant dense<2.0> : tensor<4xf32>
            %2 = stablehlo.multiply %x, %1 : tensor<4xf32>
            %3 = stablehlo.add %2, %1 : tensor<4xf32>
            sdy.return %3 : tensor<4xf32>
          } : (tensor<4xf32>) -> tensor<4xf32>
          %4 = sdy.named_computation<"other">(%c) (%x: tensor<4xf32>) {
            %5 = sdy.named_computation<"inner">(%x) (%y: tensor<4xf32>) {
              %6 = stablehlo.reverse %y, dims = [0] : tensor<4xf32>
              sdy.return %6 : tensor<4xf32>
            } : (tensor<4xf32>) -> tensor<4xf32>
            sdy.return %5 : tensor<4xf32>
          } : (tensor<4xf32>) -> tensor<4xf32>
          %7 = stablehlo.add %0, %a : tensor<4xf32>
          %8 = stablehlo.add %0, %4 : tensor<4xf32>
          return %7, %8 : tensor<4xf32>, tensor<4xf32>
        }
    """),
    "constants of complex type": _program("""
        func.func @main(%a: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
          %c = stablehlo.constant {note = "kept"} dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
          %0 = stablehlo.add %a, %c : tensor<2xcomplex<f32>>
          %1 = stablehlo.multiply %0, %c : tensor<2xcomplex<f32>>
          return %1 : tensor<2xcomplex<f32>>
        }
    """),
    "inlined meshes": dedent("""
        sdy.mesh @other = <["a"=4]>
        sdy.mesh @copy = <["a"=4]>
        func.func @mesh(
            %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=2]>, [{"y"}]>},
            %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@copy, [{"a"}]>})
            -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
          %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[
            <mesh<["a"=4]>, [{?}]>]>} : tensor<4xf32>
          %1 = sdy.sharding_constraint %0 <mesh<[], device_ids=[3]>, []> : tensor<4xf32>
          %2 = sdy.sharding_constraint %1 <mesh<[]>, [{}]> : tensor<4xf32>
          %3 = sdy.sharding_constraint %2 <mesh<["x"=2], device_ids=[1, 0]>, [{"x"}]>
            : tensor<4xf32>
          %4 = "stablehlo.all_reduce"(%3) ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %5 = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %5 : tensor<f32>
          }) {replica_groups = #stablehlo.replica_group_mesh_axes<
            mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "z", size = 4>]>,
            axes = [#stablehlo.axis_ref<name = "z">]>} : (tensor<4xf32>) -> tensor<4xf32>
          return %4 : tensor<4xf32>
        }
    """),
    "axes of size one": dedent("""
        sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2, "unit"=1]>
        func.func @main(
            %a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "one"}p1, {"unit"}p2]>},
            %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", ?}p1, {?}],
              replicated={"y", "unit"}>}) -> tensor<4x4xf32> {
          %0 = stablehlo.add %a, %b : tensor<4x4xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}], unreduced={"one", "y"}>
            : tensor<4x4xf32>
          return %1 : tensor<4x4xf32>
        }
    """),
    "edges of every kind": _program("""
        func.func @main(%a: tensor<8x8xf32>, %i: tensor<i32>)
            -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %0 = sdy.manual_computation(%a, %a)
              in_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x"}, {?}], replicated={"y"}>]
              out_shardings=[<@mesh, [{"x"}, {"y", ?}]>] manual_axes={"x"}
              (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
            %1 = stablehlo.add %x, %y : tensor<4x8xf32>
            %2 = stablehlo.add %1, %x : tensor<4x8xf32>
            sdy.return %2 : tensor<4x8xf32>
          } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          %3 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"y"}, {?}]>]
              out_shardings=[<@mesh, [{?}, {"x"}]>]
              (%x: tensor<8x8xf32>) {
            %4 = stablehlo.negate %x : tensor<8x8xf32>
            sdy.return %4 : tensor<8x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %5:2 = stablehlo.optimization_barrier {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>, <@mesh, [{?}, {?}]>]>} %3, %0
            : tensor<8x8xf32>, tensor<8x8xf32>
          %6 = "stablehlo.case"(%i) ({
            stablehlo.return %5#0 : tensor<8x8xf32>
          }, {
            %7 = stablehlo.add %5#0, %5#1 : tensor<8x8xf32>
            stablehlo.return %7 : tensor<8x8xf32>
          }) : (tensor<i32>) -> tensor<8x8xf32>
          %8 = stablehlo.add %6, %5#1 : tensor<8x8xf32>
          return %6, %8 : tensor<8x8xf32>, tensor<8x8xf32>
        }
    """),
    "chains of constraints": _program("""
        func.func @main(%a: tensor<8x8xf32>)
            -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
          %0 = stablehlo.negate %a : tensor<8x8xf32>
          %1 = stablehlo.tanh %0 : tensor<8x8xf32>
          %2 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
          %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
          %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
          %5 = stablehlo.sine %0 : tensor<8x8xf32>
          %6 = stablehlo.add %0, %0 : tensor<8x8xf32>
          %7 = stablehlo.add %6, %5 : tensor<8x8xf32>
          return %0, %4, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
        }
    """),
    "constraints on edges": _program("""
        func.func @main(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
          %0:2 = stablehlo.while(%k = %n, %x = %a) : tensor<i32>, tensor<8xf32>
            cond {
              %1 = stablehlo.compare LT, %k, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %1 : tensor<i1>
            } do {
              %1 = stablehlo.add %x, %x : tensor<8xf32>
              %2 = sdy.sharding_constraint %x <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
              %3 = stablehlo.add %1, %2 : tensor<8xf32>
              stablehlo.return %k, %3 : tensor<i32>, tensor<8xf32>
            }
          %4 = stablehlo.negate %0#1 : tensor<8xf32>
          %5 = sdy.manual_computation(%0#1, %4)
              in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]
              out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
              (%x: tensor<4xf32>, %y: tensor<4xf32>) {
            %6 = stablehlo.add %x, %y : tensor<4xf32>
            sdy.return %6 : tensor<4xf32>
          } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
          %7 = stablehlo.add %5, %0#1 : tensor<8xf32>
          return %7 : tensor<8xf32>
        }
    """),
    "constraints that do not agree": _program("""
        func.func @main(%a: tensor<8xf32>, %b: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
          %1 = sdy.sharding_constraint %a <@mesh, [{"y"}]> : tensor<8xf32>
          %2 = sdy.sharding_constraint %b <@mesh, []> : tensor<f32>
          %3 = stablehlo.reduce(%0 init: %2) across dimensions = [0]
              : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
            reducer(%x: tensor<f32>, %y: tensor<f32>) {
              %4 = sdy.sharding_constraint %x <@mesh, []> : tensor<f32>
              %5 = stablehlo.add %4, %y : tensor<f32>
              stablehlo.return %5 : tensor<f32>
            }
          %6 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
          return %1, %6 : tensor<8xf32>, tensor<8xf32>
        }
    """),
}

EXPORT_PROGRAMS = {
    "constants sharded alike and not": _program("""
        func.func @main(%s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
            dense<1.0> : tensor<4xf32>
          %1 = sdy.constant dense<1.0> : tensor<4xf32>
          %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
            dense<1.0> : tensor<4xf32>
          %3 = stablehlo.add %0, %1 : tensor<4xf32>
          %4 = stablehlo.add %2, %0 : tensor<4xf32>
          %5 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %6 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %7 = stablehlo.add %5, %6 : tensor<4xf32>
          %8 = stablehlo.add %4, %6 : tensor<4xf32>
          %9 = stablehlo.add %7, %3 : tensor<4xf32>
          return %8, %9 : tensor<4xf32>, tensor<4xf32>
        }
    """),
    "constants of complex type": _program("""
        func.func @main() -> (tensor<complex<f32>>, tensor<complex<f32>>) {
          %0 = sdy.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
          %1 = sdy.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
          %2 = sdy.constant dense<(1.0, 3.0)> : tensor<complex<f32>>
          %3 = stablehlo.add %0, %1 : tensor<complex<f32>>
          return %3, %2 : tensor<complex<f32>>, tensor<complex<f32>>
        }
    """),
    "edges with and without shardings": _program("""
        func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %0:2 = stablehlo.optimization_barrier %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
          %1 = sdy.data_flow_edge %0#0 : tensor<8x8xf32>
          %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"x", ?}, {"y"}]> : tensor<8x8xf32>
          %3 = sdy.manual_computation(%1, %2)
              in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{"x", ?}, {}]>]
              out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}
              (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
            %4 = sdy.data_flow_edge %x sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
            %5 = sdy.data_flow_edge %y : tensor<4x8xf32>
            %6 = stablehlo.add %4, %5 : tensor<4x8xf32>
            %7 = stablehlo.add %6, %4 : tensor<4x8xf32>
            sdy.return %7 : tensor<4x8xf32>
          } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          %8 = sdy.data_flow_edge %3 sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
          %9 = stablehlo.add %8, %1 : tensor<8x8xf32>
          return %8, %9 : tensor<8x8xf32>, tensor<8x8xf32>
        }
    """),
    "constraints, reshards and their uses": _program("""
        func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
          %1 = stablehlo.negate %a : tensor<8xf32>
          %2 = sdy.sharding_constraint %a <@mesh, [{"x", ?}], replicated={"y"}>
            {note = "kept", sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>}
            : tensor<8xf32>
          %3 = sdy.sharding_constraint %2 <@mesh, [{}]> : tensor<8xf32>
          %4 = stablehlo.add %2, %a {sdy.sharding_rule =
            #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>} : tensor<8xf32>
          %5 = stablehlo.add %2, %0 : tensor<8xf32>
          %6 = stablehlo.add %3, %4 : tensor<8xf32>
          %7 = stablehlo.add %1, %5 : tensor<8xf32>
          return %6, %7 : tensor<8xf32>, tensor<8xf32>
        }
    """),
}

OTHER_PROGRAMS = {
    "functions with and without shardings": _program("""
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> (tensor<8xf32>, tensor<8xf32>) {
          %0:2 = call @f(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[
            <@mesh, [{"x"}]>, <@mesh, [{?}]>]>}
            : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
          %1 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
          %2 = stablehlo.add %1, %0#0 : tensor<8xf32>
          return %1, %2 : tensor<8xf32>, tensor<8xf32>
        }
        func.func private @f(%a: tensor<8xf32>,
            %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>})
            -> (tensor<8xf32>, tensor<8xf32>) {
          %0 = stablehlo.add %a, %b : tensor<8xf32>
          %1 = stablehlo.add %b, %0 : tensor<8xf32>
          return %0, %1 : tensor<8xf32>, tensor<8xf32>
        }
    """),
    "edges between functions": _program("""
        func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
          %0:2 = call @f(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)
          %1 = sdy.func_data_flow_edge %0#0 {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : tensor<8xf32>
          %2 = sdy.func_data_flow_edge %0#1 : tensor<4x4xf32>
          return %1, %2 : tensor<8xf32>, tensor<4x4xf32>
        }
        func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
            -> (tensor<8xf32>, tensor<4x4xf32>) {
          %0 = sdy.func_data_flow_edge %a : tensor<8xf32>
          %1 = stablehlo.add %0, %0 : tensor<8xf32>
          %2 = stablehlo.constant dense<1.0> : tensor<4x4xf32>
          return %1, %2 : tensor<8xf32>, tensor<4x4xf32>
        }
    """),
    "sub-axes and what does not divide": dedent("""
        sdy.mesh @mesh = <["x"=8, "y"=2, "z"=3]>
        func.func @main(
            %a: tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p2, {"z", "y", ?}]>},
            %b: tensor<16x3xf32> {sdy.sharding =
              #sdy.sharding<@mesh, [{"y", "x":(1)2, "z", ?}, {"x":(2)2}]>},
            %c: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}],
              replicated={"y"}>})
            -> (tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x":(2)4, ?}]>},
                tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "z"}]>}) {
          %0 = call @f(%b) {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {"z"}]>]>}
            : (tensor<16x3xf32>) -> tensor<16x3xf32>
          %1 = sdy.manual_computation(%a)
              in_shardings=[<@mesh, [{"y"}, {"z", "x"}]>]
              out_shardings=[<@mesh, [{"y", "x"}, {"z", ?}]>] manual_axes={"y"}
              (%x: tensor<2x12xf32>) {
            %2 = stablehlo.negate %x : tensor<2x12xf32>
            sdy.return %2 : tensor<2x12xf32>
          } : (tensor<4x12xf32>) -> tensor<4x12xf32>
          return %1, %0 : tensor<4x12xf32>, tensor<16x3xf32>
        }
        func.func private @f(%a: tensor<16x3xf32>)
            -> (tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {?}]>}) {
          return %a : tensor<16x3xf32>
        }
    """),
    "debug information": _program("""
        func.func @main(%a: tensor<8xf32> {sdy.sharding_origins = {x = "self"}, mhlo.n = 1 : i32})
            -> (tensor<8xf32> {sdy.sharding_origins = {x = "input: 0"}}) {
          %0 = stablehlo.negate %a {sdy.sharding_origins = [{x = "input: 0"}], note = 2 : i32}
            : tensor<8xf32>
          return %0 : tensor<8xf32>
        }
    """),
    "gathers and scatters of rows": dedent("""
        func.func @main(%a: tensor<4x8xf32>, %i: tensor<4x1xi32>, %v: tensor<4x3xi32>,
            %b: tensor<4x8x2xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x1xf32>) {
          %n = stablehlo.iota dim = 0 : tensor<4xi32>
          %r = stablehlo.reshape %n : (tensor<4xi32>) -> tensor<4x1xi32>
          %rows = stablehlo.concatenate %r, %i, dim = 1
            : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
          %0 = "stablehlo.gather"(%a, %rows) {note = "kept",
            dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
              start_index_map = [0, 1], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, 1>} : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
          %1 = "stablehlo.scatter"(%a, %rows, %0) ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %2 = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
              inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1],
              index_vector_dim = 1>, unique_indices = true}
            : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x1xf32>) -> tensor<4x8xf32>
          %m = stablehlo.iota dim = 0 : tensor<4x3xi32>
          %3 = "stablehlo.gather"(%b, %m) {
            dimension_numbers = #stablehlo.gather<offset_dims = [1],
              collapsed_slice_dims = [0, 1], start_index_map = [1, 0, 2], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, 1, 1>}
            : (tensor<4x8x2xf32>, tensor<4x3xi32>) -> tensor<4x1xf32>
          %unused = stablehlo.add %i, %i : tensor<4x1xi32>
          return %0, %1, %3 : tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x1xf32>
        }
    """),
}
