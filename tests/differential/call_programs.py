"""Programs with calls, written by hand and made at random."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

__all__ = ["CALL_PROGRAMS", "NAMED_COMPUTATIONS", "random_call_program"]

_MESHES = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["y"=4, "x"=2]>
sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
"""


def _program(text: str) -> str:
    return _MESHES + dedent(text)


CALL_PROGRAMS = {
    "nested calls of shared functions": _program("""
        func.func public @main(
            %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>}) {
          %0 = call @outer(%a) {mhlo.frontend_attributes = {a = "b"}}
              : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %1 = call @inner(%0) {no_inline} : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %2 = call @outer(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %2 : tensor<8x8xf32>
        }
        func.func private @unused(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = call @inner(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }
        func.func private @outer(%a: tensor<8x8xf32>) -> tensor<8x8xf32>
            attributes {execution_thread = "t"} {
          %0 = call @inner(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %1 = call @inner(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
          return %2 : tensor<8x8xf32>
        }
        func.func private @inner(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = stablehlo.multiply %a, %a : tensor<8x8xf32>
          %1 = stablehlo.add %0, %a : tensor<8x8xf32>
          return %1 : tensor<8x8xf32>
        }
    """),
    "different shardings for each call": _program("""
        func.func @main(
            %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
            %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
        ) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
          %0 = call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %1 = call @f(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %2 = call @f(%b) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {?}]>]>}
              : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %3 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
              : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
        }
        func.func private @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %0 = stablehlo.negate %a : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }
    """),
    "calls in loops and branches": _program("""
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>},
                        %n: tensor<i32>) -> tensor<8xf32> {
          %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8xf32>
          cond {
            %c = func.call @goes_on(%i) : (tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %y = func.call @step(%x, %i) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
            %z = func.call @step(%y, %i) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
            stablehlo.return %i, %z : tensor<i32>, tensor<8xf32>
          }
          %1 = "stablehlo.case"(%0#0) ({
            %y = func.call @step(%0#1, %n) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
            stablehlo.return %y : tensor<8xf32>
          }, {
            stablehlo.return %a : tensor<8xf32>
          }) : (tensor<i32>) -> tensor<8xf32>
          return %1 : tensor<8xf32>
        }
        func.func private @goes_on(%i: tensor<i32>) -> tensor<i1> {
          %0 = stablehlo.compare EQ, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          return %0 : tensor<i1>
        }
        func.func private @step(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
          %0 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
          %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
          %2 = stablehlo.add %x, %1 : tensor<8xf32>
          return %2 : tensor<8xf32>
        }
    """),
    "calls in manual computations": _program("""
        func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
          %0 = call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
          %1 = sdy.manual_computation(%0)
              in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>]
              manual_axes={"x"} (%x: tensor<4x4xf32>) {
            %2 = func.call @local(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
            %3 = func.call @local(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
            sdy.return %3 : tensor<4x4xf32>
          } : (tensor<8x4xf32>) -> tensor<8x4xf32>
          %4 = call @f(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
          return %4 : tensor<8x4xf32>
        }
        func.func private @local(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
          %0 = stablehlo.tanh %x : tensor<4x4xf32>
          return %0 : tensor<4x4xf32>
        }
        func.func private @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
          %0 = sdy.manual_computation(%a)
              in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>]
              manual_axes={"y", "x"} (%x: tensor<8x4xf32>) {
            sdy.return %x : tensor<8x4xf32>
          } : (tensor<8x4xf32>) -> tensor<8x4xf32>
          return %0 : tensor<8x4xf32>
        }
    """),
    "results whose shardings are empty, maximal or of other meshes": _program("""
        func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %0:3 = call @f(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
          %1 = call @g(%0#2) : (tensor<8xf32>) -> tensor<8xf32>
          %2:3 = call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[
                  <@other, [{"x"}]>, <@mesh, [{}]>, <@mesh, [{}]>]>}
              : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
          %3 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
          %4 = stablehlo.add %2#0, %2#2 : tensor<8xf32>
          return %3, %4 : tensor<8xf32>, tensor<8xf32>
        }
        func.func private @f(%a: tensor<8xf32>) -> (
            tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>,
            tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"y", ?}]>}) {
          return %a, %a, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
        }
        func.func private @g(%a: tensor<8xf32>)
            -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal, []>}) {
          return %a : tensor<8xf32>
        }
    """),
    "clones by hand": _program("""
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
          %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
          %2 = call @f_1(%1) : (tensor<8xf32>) -> tensor<8xf32>
          %3 = call @f_1(%2) : (tensor<8xf32>) -> tensor<8xf32>
          %4 = call @f_2(%3) : (tensor<8xf32>) -> tensor<8xf32>
          return %4 : tensor<8xf32>
        }
        func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }
        func.func private @f_0(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32>
            attributes {sdy.original_func_name = "f"} {
          return %a : tensor<8xf32>
        }
        func.func private @f_1(%a: tensor<8xf32>) -> tensor<8xf32>
            attributes {sdy.original_func_name = "f"} {
          return %a : tensor<8xf32>
        }
        func.func private @f_2(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32>
            attributes {sdy.original_func_name = "f",
                        sdy.func_manual_axes = #sdy<manual_axes{"y"}>} {
          return %a : tensor<8xf32>
        }
    """),
    "functions that attributes use": _program("""
        func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = stablehlo.custom_call @target(%a) {called_computations = [@by_attribute]}
              : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
        func.func private @by_attribute(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @by_call(%a) : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
        func.func private @by_call(%a: tensor<8xf32>) -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }
        func.func private @by_nothing(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @by_call(%a) : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
    """),
    "sharding groups that share values": _program("""
        func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>,
                        %d: tensor<4xf32>) {
          sdy.sharding_group %a group_id=7 : tensor<8xf32>
          sdy.sharding_group %d group_id=3 : tensor<4xf32>
          sdy.sharding_group %b group_id=5 : tensor<8xf32>
          sdy.sharding_group %c group_id=5 : tensor<8xf32>
          sdy.sharding_group %b group_id=7 : tensor<8xf32>
          sdy.sharding_group %a group_id=7 : tensor<8xf32>
          return
        }
    """),
    "manual axes that shardings leave out": _program("""
        func.func @main(%a: tensor<8x8xf32>, %t: !stablehlo.token) -> tensor<8x8xf32> {
          %0:2 = sdy.manual_computation(%a, %t)
              in_shardings=[<@other, [{"y"}, {?}]>, <@other, []>]
              out_shardings=[<@other, [{"y", ?}, {}], replicated={"x"}>, <@empty, []>]
              manual_axes={"x", "y"} (%x: tensor<2x8xf32>, %u: !stablehlo.token) {
            sdy.return %x, %u : tensor<2x8xf32>, !stablehlo.token
          } : (tensor<8x8xf32>, !stablehlo.token) -> (tensor<8x8xf32>, !stablehlo.token)
          %1 = sdy.manual_computation(%0#0)
              in_shardings=[<@empty, [{}, {}]>] out_shardings=[<@mesh, [{}, {"x"}]>]
              manual_axes={"x"} (%x: tensor<8x8xf32>) {
            %2 = stablehlo.slice %x [0:8, 0:4] : (tensor<8x8xf32>) -> tensor<8x4xf32>
            sdy.return %2 : tensor<8x4xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %1 : tensor<8x8xf32>
        }
    """),
    "no calls, and a mesh after the function": """
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }
        sdy.mesh @mesh = <["x"=2]>
    """,
}

NAMED_COMPUTATIONS = _program("""
        func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %0:2 = sdy.named_computation<"f">(%a, %a)
              in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]
              out_shardings=[<@mesh, [{"y"}]>, <@mesh, [{?}]>]
              (%x: tensor<8xf32>, %y: tensor<8xf32>) {
            %1 = sdy.named_computation<"g">(%x) (%z: tensor<8xf32>) {
              %3 = stablehlo.negate %z : tensor<8xf32>
              sdy.return %3 : tensor<8xf32>
            } : (tensor<8xf32>) -> tensor<8xf32>
            %2 = sdy.named_computation<"g">(%1) (%z: tensor<8xf32>) {
              sdy.return %z : tensor<8xf32>
            } {execution_thread = "t"} : (tensor<8xf32>) -> tensor<8xf32>
            sdy.return %2, %y : tensor<8xf32>, tensor<8xf32>
          } {keep = "this"} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
          %1 = call @f(%0#0) : (tensor<8xf32>) -> tensor<8xf32>
          return %1, %0#1 : tensor<8xf32>, tensor<8xf32>
        }
        func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          %1 = sdy.named_computation<"g">(%x) (%z: tensor<8xf32>) {
            sdy.return %z : tensor<8xf32>
          } : (tensor<8xf32>) -> tensor<8xf32>
          return %1 : tensor<8xf32>
        }
    """)
"""Named computations of which the reference's pipeline refuses its own data-flow edges."""

_TYPE = "tensor<24x24xf32>"


def random_call_program(random: Random) -> str:
    """Return a program of a few functions that call each other, with shardings all over it."""
    functions = [_RandomFunction(random, f"f{number}") for number in range(random.randint(1, 5))]
    for number, function in enumerate(functions):
        function.fill(functions[:number], random.randint(1, 5))
    main = _RandomFunction(random, "main", arguments=2, results=2)
    main.fill(functions, 6)
    texts = [function.text() for function in [*functions, main]]
    random.shuffle(texts)
    return _MESHES + "\n".join(texts)


def _random_sharding(random: Random) -> str:
    axes = ["x", "y"]
    random.shuffle(axes)
    dimensions = []
    for _ in range(2):
        used = [f'"{axes.pop()}"' for _ in range(random.randint(0, 1)) if axes]
        dimensions.append("{" + ", ".join([*used, *random.choice([["?"], []])]) + "}")
    mesh = random.choice(["mesh", "mesh", "other"])
    return f"<@{mesh}, [{', '.join(dimensions)}]>"


class _RandomFunction:
    """A function while it is made: its lines, and the values in scope."""

    def __init__(
        self, random: Random, name: str, arguments: int | None = None, results: int | None = None
    ) -> None:
        self.name = name
        self.arguments = arguments or random.randint(1, 3)
        self.results = results or random.randint(1, 3)
        self._random = random
        self._lines: list[str] = []
        self._values = [f"%a{number}" for number in range(self.arguments)]
        self._count = 0

    def fill(self, callees: list[_RandomFunction], ops: int) -> None:
        """Add ops, among them calls."""
        for _ in range(ops):
            kind = self._random.choice(["call", "call", "add", "branch"])
            if kind == "call" and callees:
                self._values += self._call(self._random.choice(callees))
            elif kind == "branch" and callees:
                self._values.append(self._branch(callees))
            else:
                self._values.append(self._add())

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _any_values(self, count: int) -> str:
        return ", ".join(self._random.choices(self._values, k=count))

    def _add(self) -> str:
        name = self._name()
        self._lines.append(f"{name} = stablehlo.add {self._any_values(2)} : {_TYPE}")
        return name

    def _call(self, callee: _RandomFunction) -> list[str]:
        name = self._name()
        shardings = ", ".join(_random_sharding(self._random) for _ in range(callee.results))
        attributes = self._random.choice(
            [
                "",
                f" {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}",
                " {foo.a = 1 : i32}",
            ]
        )
        types = ", ".join([_TYPE] * callee.arguments), ", ".join([_TYPE] * callee.results)
        self._lines.append(
            f"{name}:{callee.results} = func.call @{callee.name}"
            f"({self._any_values(callee.arguments)}){attributes} : ({types[0]}) -> ({types[1]})"
        )
        return [f"{name}#{number}" for number in range(callee.results)]

    def _branch(self, callees: list[_RandomFunction]) -> str:
        name = self._name()
        self._lines += [
            f"{name}_i = stablehlo.constant dense<0> : tensor<i32>",
            f'{name} = "stablehlo.case"({name}_i) ({{',
        ]
        for number in range(2):
            returned = self._call(self._random.choice(callees))[0]
            self._lines += [
                f"stablehlo.return {returned} : {_TYPE}",
                "}, {" if number == 0 else f"}}) : (tensor<i32>) -> {_TYPE}",
            ]
        return name

    def text(self) -> str:
        """Return the function: where one argument has a sharding all have one.

        The reference dies of a function with some shardings that is called twice.
        """
        is_sharded = self._random.random() < 0.5
        arguments = ", ".join(
            f"%a{number}: {_TYPE}{self._attribute() if is_sharded else ''}"
            for number in range(self.arguments)
        )
        results = ", ".join(
            _TYPE + (self._attribute() if self._random.random() < 0.3 else "")
            for _ in range(self.results)
        )
        visibility = "public" if self.name == "main" else self._random.choice(["private", ""])
        thread = self._random.choice(["", 'attributes {execution_thread = "t"} '])
        types = ", ".join([_TYPE] * self.results)
        head = f"func.func {visibility} @{self.name}({arguments}) -> ({results}) {thread}{{"
        return "\n".join(
            [head, *self._lines, f"return {self._any_values(self.results)} : {types}", "}"]
        )

    def _attribute(self) -> str:
        return f" {{sdy.sharding = #sdy.sharding{_random_sharding(self._random)}}}"
