"""Random programs for propagation, in which the order of visits decides the answer.

A program is made by asking a chooser for numbers, so that hypothesis can shrink it and a seed
can repeat it. Values have many uses that meet again through transposes and dots, and few are
annotated: shardings come into conflict, and who is visited first wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["Chooser", "ProgramOptions", "random_program"]

T = TypeVar("T")

Chooser = Callable[[int], int]
"""Returns a number from 0 up to, not including, its argument."""

Shape = tuple[int, ...]

MESHES: tuple[dict[str, int], ...] = (
    {"x": 2, "y": 2},
    {"x": 4, "y": 2},
    {"x": 2, "y": 2, "z": 2},
    {"x": 8},
    {"x": 2, "y": 3},
)
SIZES = (4, 4, 4, 8, 2, 6, 16, 3, 1)


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What a random program may have.

    Attributes:
      ops: the number of ops.
      regions: whether it may have loops, branches and barriers.
      priorities: whether shardings may have priorities.
      groups: whether values may be in sharding groups.
      dead_ops: whether ops may be left without users.
      conflicts: whether it is made for conflicts: few square values of many uses, which meet
        again through transposes and dots, and few annotations.

    """

    ops: int = 12
    regions: bool = True
    priorities: bool = True
    groups: bool = True
    dead_ops: bool = True
    conflicts: bool = False


@dataclass(slots=True)
class _Value:
    name: str
    shape: Shape
    uses: int = 0

    @property
    def type(self) -> str:
        return tensor(self.shape)


def tensor(shape: Shape, element: str = "f32") -> str:
    """Return the text of a tensor type."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _types(*values: _Value) -> str:
    return ", ".join(value.type for value in values)


@dataclass(slots=True)
class _Program:
    """A program while it is made: its lines, and the values in scope."""

    choose: Chooser
    options: ProgramOptions
    mesh: dict[str, int]
    lines: list[str] = field(default_factory=list)
    values: list[_Value] = field(default_factory=list)
    functions: dict[Shape, list[str]] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    count: int = 0
    depth: int = 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.choose(len(options))]

    def chance(self, one_in: int) -> bool:
        return self.choose(one_in) == 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, shape: Shape, text: str, suffix: str, *, sharded: bool = True) -> _Value:
        """Add an op with one result; `text` comes before its attributes, `suffix` after."""
        value = _Value(self.fresh(), shape)
        one_in = 60 if self.options.conflicts else 9
        attributes = (
            f" {{{self.result_sharding(shape)}}}" if sharded and self.chance(one_in) else ""
        )
        self.lines.append(f"{value.name} = {text}{attributes} : {suffix}")
        self.values.append(value)
        return value

    # Values.

    def any_value(self) -> _Value:
        """Return a value; often an early one in a program made for conflicts, for many uses."""
        early = 3 if self.options.conflicts and self.chance(2) else len(self.values)
        value = self.values[self.choose(min(early, len(self.values)))]
        value.uses += 1
        return value

    def value_with_rank(self, rank: int) -> _Value:
        """Return a value of a rank; one is made where there is none."""
        known = [value for value in self.values if len(value.shape) == rank]
        if not known:
            return self.constant(tuple(self.pick(SIZES) for _ in range(rank)))
        value = self.pick(known)
        value.uses += 1
        return value

    def value_of(self, shape: Shape) -> _Value:
        known = [value for value in self.values if value.shape == shape]
        if not known:
            return self.constant(shape)
        value = self.pick(known)
        value.uses += 1
        return value

    def constant(self, shape: Shape) -> _Value:
        return self.emit(shape, "stablehlo.constant dense<0.0>", tensor(shape), sharded=False)

    # Shardings.

    def axis_pool(self) -> list[str]:
        """Return axes and sub-axes that do not overlap, in some order."""
        pool: list[str] = []
        for name, size in self.mesh.items():
            if size % 4 == 0 and self.chance(3):
                pool += [f'"{name}":(1)2', f'"{name}":(2){size // 2}']
            elif size % 2 == 0 and size > 2 and self.chance(4):
                pool.append(f'"{name}":(1)2')
            else:
                pool.append(f'"{name}"')
        if self.chance(2):
            pool.reverse()
        return pool

    def sharding(self, shape: Shape) -> str:
        """Return the body of a random sharding."""
        pool = self.axis_pool()
        dimensions = []
        for _ in shape:
            axes: list[str] = []
            while pool and self.chance(2) and len(axes) < 2 and not _merges(axes, pool[0]):
                axes.append(pool.pop(0))
            if self.chance(2):
                axes.append("?")
            priority = ""
            if self.options.priorities and axes and self.chance(5):
                priority = f"p{self.choose(3)}"
            dimensions.append("{" + ", ".join(axes) + "}" + priority)
        tail = ""
        if pool and self.chance(8) and '"' in pool[0] and ":" not in pool[0]:
            tail = f", replicated={{{pool[0]}}}"
        return f"@mesh, [{', '.join(dimensions)}]{tail}"

    def result_sharding(self, shape: Shape) -> str:
        return f"sdy.sharding = #sdy.sharding_per_value<[<{self.sharding(shape)}>]>"

    # Ops.

    def unary(self) -> None:
        x = self.any_value()
        op = self.pick(("tanh", "negate", "exponential", "abs"))
        self.emit(x.shape, f"stablehlo.{op} {x.name}", x.type)

    def binary(self) -> None:
        x = self.any_value()
        y = self.value_of(x.shape)
        op = self.pick(("add", "multiply", "maximum", "subtract"))
        self.emit(x.shape, f"stablehlo.{op} {x.name}, {y.name}", x.type)

    def transpose(self) -> None:
        x = self.any_value()
        order = list(range(len(x.shape)))
        order.append(order.pop(0)) if order else None
        if len(order) > 2 and self.chance(2):
            order.reverse()
        shape = tuple(x.shape[i] for i in order)
        self.emit(
            shape, f"stablehlo.transpose {x.name}, dims = {order}", f"({x.type}) -> {tensor(shape)}"
        )

    def reshape(self) -> None:
        x = self.any_value()
        shape = self.reshaped(x.shape)
        self.emit(shape, f"stablehlo.reshape {x.name}", f"({x.type}) -> {tensor(shape)}")

    def reshaped(self, shape: Shape) -> Shape:
        if len(shape) >= 2 and self.chance(2):
            at = self.choose(len(shape) - 1)
            return (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])
        for at, size in enumerate(shape):
            for part in (2, 3):
                if size % part == 0 and size > part and len(shape) < 4:
                    return (*shape[:at], part, size // part, *shape[at + 1 :])
        return (math.prod(shape),)

    def dot(self) -> None:
        x = self.value_with_rank(2)
        known = [v for v in self.values if len(v.shape) == 2 and v.shape[0] == x.shape[1]]
        y = self.pick(known) if known else self.constant((x.shape[1], self.pick(SIZES)))
        y.uses += 1
        shape = (x.shape[0], y.shape[1])
        self.emit(
            shape,
            f"stablehlo.dot_general {x.name}, {y.name}, contracting_dims = [1] x [0]",
            f"({_types(x, y)}) -> {tensor(shape)}",
        )

    def batched_dot(self) -> None:
        x = self.value_with_rank(3)
        b, m, k = x.shape
        y = self.value_of((b, k, m))
        self.emit(
            (b, m, m),
            f"stablehlo.dot_general {x.name}, {y.name}, batching_dims = [0] x [0], "
            "contracting_dims = [2] x [1]",
            f"({_types(x, y)}) -> {tensor((b, m, m))}",
        )

    def broadcast(self) -> None:
        x = self.any_value()
        at = self.choose(len(x.shape) + 1)
        shape = (*x.shape[:at], self.pick(SIZES), *x.shape[at:])
        if len(shape) > 4:
            return
        dims = [i if i < at else i + 1 for i in range(len(x.shape))]
        self.emit(
            shape,
            f"stablehlo.broadcast_in_dim {x.name}, dims = {dims}",
            f"({x.type}) -> {tensor(shape)}",
        )

    def reduce(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        at = self.choose(len(x.shape))
        shape = (*x.shape[:at], *x.shape[at + 1 :])
        zero = self.constant(())
        self.emit(
            shape,
            f"stablehlo.reduce({x.name} init: {zero.name}) applies stablehlo.add "
            f"across dimensions = [{at}]",
            f"({x.type}, tensor<f32>) -> {tensor(shape)}",
            sharded=False,
        )

    def concatenate(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        y = self.value_of(x.shape)
        at = self.choose(len(x.shape))
        shape = (*x.shape[:at], 2 * x.shape[at], *x.shape[at + 1 :])
        self.emit(
            shape,
            f"stablehlo.concatenate {x.name}, {y.name}, dim = {at}",
            f"({_types(x, y)}) -> {tensor(shape)}",
        )

    def slice(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        ends = [max(1, size // 2) if self.chance(2) else size for size in x.shape]
        ranges = ", ".join(f"0:{end}" for end in ends)
        self.emit(
            tuple(ends),
            f"stablehlo.slice {x.name} [{ranges}]",
            f"({x.type}) -> {tensor(tuple(ends))}",
        )

    def pad(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        zero = self.constant(())
        high = [self.choose(2) * 2 for _ in x.shape]
        zeros = [0] * len(high)
        shape = tuple(size + more for size, more in zip(x.shape, high, strict=True))
        self.emit(
            shape,
            f"stablehlo.pad {x.name}, {zero.name}, low = {zeros}, high = {high}, "
            f"interior = {zeros}",
            f"({x.type}, tensor<f32>) -> {tensor(shape)}",
        )

    def select(self) -> None:
        x = self.any_value()
        y = self.value_of(x.shape)
        predicate = self.fresh()
        kind = tensor(x.shape, "i1")
        self.lines.append(
            f"{predicate} = stablehlo.compare GT, {x.name}, {y.name} : ({_types(x, y)}) -> {kind}"
        )
        self.emit(
            x.shape,
            f"stablehlo.select {predicate}, {x.name}, {y.name}",
            f"{kind}, {x.type}",
        )

    def reverse(self) -> None:
        x = self.any_value()
        if x.shape:
            self.emit(x.shape, f"stablehlo.reverse {x.name}, dims = [0]", x.type)

    def iota(self) -> None:
        shape = (self.pick(SIZES), self.pick(SIZES))
        self.emit(shape, f"stablehlo.iota dim = {self.choose(2)}", tensor(shape))

    def clamp(self) -> None:
        x = self.any_value()
        low = self.constant(())
        high = self.value_of(x.shape)
        self.emit(
            x.shape,
            f"stablehlo.clamp {low.name}, {x.name}, {high.name}",
            f"({_types(low, x, high)}) -> {x.type}",
        )

    def convert(self) -> None:
        x = self.any_value()
        half = self.fresh()
        kind = tensor(x.shape, "bf16")
        self.lines.append(f"{half} = stablehlo.convert {x.name} : ({x.type}) -> {kind}")
        self.emit(x.shape, f"stablehlo.convert {half}", f"({kind}) -> {x.type}")

    def dynamic_slice(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        index = self.fresh()
        self.lines.append(f"{index} = stablehlo.constant dense<0> : tensor<i32>")
        sizes = [max(1, size // 2) if self.chance(2) else size for size in x.shape]
        indices = ", ".join([index] * len(x.shape))
        kinds = ", ".join(["tensor<i32>"] * len(x.shape))
        self.emit(
            tuple(sizes),
            f"stablehlo.dynamic_slice {x.name}, {indices}, sizes = {sizes}",
            f"({x.type}, {kinds}) -> {tensor(tuple(sizes))}",
        )

    def dynamic_update_slice(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        index = self.fresh()
        self.lines.append(f"{index} = stablehlo.constant dense<0> : tensor<i32>")
        sizes = tuple(max(1, size // 2) if self.chance(2) else size for size in x.shape)
        update = self.value_of(sizes)
        indices = ", ".join([index] * len(x.shape))
        kinds = ", ".join(["tensor<i32>"] * len(x.shape))
        self.emit(
            x.shape,
            f"stablehlo.dynamic_update_slice {x.name}, {update.name}, {indices}",
            f"({_types(x, update)}, {kinds}) -> {x.type}",
        )

    def cholesky(self) -> None:
        squares = [v for v in self.values if len(v.shape) >= 2 and v.shape[-1] == v.shape[-2]]
        if squares:
            x = self.pick(squares)
            x.uses += 1
            self.emit(x.shape, f"stablehlo.cholesky {x.name}, lower = true", x.type)

    def sort(self) -> None:
        x = self.any_value()
        if not x.shape:
            return
        value = _Value(self.fresh(), x.shape)
        self.lines.append(
            f'{value.name} = "stablehlo.sort"({x.name}) <{{dimension = 0 : i64}}> ({{\n'
            "^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
            "  %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "  stablehlo.return %c : tensor<i1>\n"
            f"}}) : ({x.type}) -> {x.type}"
        )
        self.values.append(value)

    def custom_call(self) -> None:
        x = self.any_value()
        target = self.pick(("unknown", "MoveToHost", "annotate_device_placement"))
        self.emit(x.shape, f"stablehlo.custom_call @{target}({x.name})", f"({x.type}) -> {x.type}")

    def argument(self, value: _Value, *, is_annotated: bool) -> str:
        """Return an argument of the function, as its signature has it."""
        if not is_annotated:
            return f"{value.name}: {value.type}"
        sharding = f"#sdy.sharding<{self.sharding(value.shape)}>"
        return f"{value.name}: {value.type} {{sdy.sharding = {sharding}}}"

    def meet(self, late: _Value) -> None:
        """Add an annotated value to one of many uses: its sharding comes to all of them at once.

        Who of them is visited first is up to the order of uses.
        """
        used = [v for v in self.values if v.shape == late.shape]
        hub = max(used, key=lambda value: value.uses)
        self.emit(hub.shape, f"stablehlo.add {hub.name}, {late.name}", hub.type, sharded=False)

    # Ops of the dialect.

    def constraint(self) -> None:
        x = self.any_value()
        self.emit(
            x.shape,
            f"sdy.sharding_constraint {x.name} <{self.sharding(x.shape)}>",
            x.type,
            sharded=False,
        )

    def barrier(self) -> None:
        x = self.any_value()
        direction = self.pick(("NONE", "FORWARD", "BACKWARD"))
        self.emit(
            x.shape,
            f"sdy.propagation_barrier {x.name} allowed_direction={direction}",
            x.type,
            sharded=False,
        )

    def group(self) -> None:
        if not self.options.groups or self.depth:
            return
        x = self.any_value()
        y = self.value_of(x.shape)
        group = self.choose(3)
        self.lines += [
            f"sdy.sharding_group {value.name} group_id={group}  : {value.type}" for value in (x, y)
        ]

    # Regions.

    def optimization_barrier(self) -> None:
        if not self.options.regions:
            return
        x, y = self.any_value(), self.any_value()
        name = self.fresh()
        self.lines.append(
            f"{name}:2 = stablehlo.optimization_barrier {x.name}, {y.name} : {_types(x, y)}"
        )
        self.values += [_Value(f"{name}#0", x.shape), _Value(f"{name}#1", y.shape)]

    def loop(self) -> None:
        if not self.options.regions or self.depth:
            return
        x, y = self.any_value(), self.any_value()
        name, start = self.fresh(), self.fresh()
        carried = f"tensor<i32>, {_types(x, y)}"
        self.lines += [
            f"{start} = stablehlo.constant dense<0> : tensor<i32>",
            f"{name}:3 = stablehlo.while({name}_i = {start}, {name}_a = {x.name}, "
            f"{name}_b = {y.name}) : {carried}",
            "cond {",
            f"  {name}_n = stablehlo.constant dense<4> : tensor<i32>",
            f"  {name}_p = stablehlo.compare LT, {name}_i, {name}_n : "
            "(tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"  stablehlo.return {name}_p : tensor<i1>",
            "} do {",
        ]
        a, b = self.body([_Value(f"{name}_a", x.shape), _Value(f"{name}_b", y.shape)])
        self.lines += [
            f"  stablehlo.return {name}_i, {a.name}, {b.name} : {carried}",
            "}",
        ]
        self.values += [_Value(f"{name}#1", x.shape), _Value(f"{name}#2", y.shape)]

    def case(self) -> None:
        if not self.options.regions or self.depth:
            return
        x = self.any_value()
        name, index = self.fresh(), self.fresh()
        self.lines.append(f"{index} = stablehlo.constant dense<0> : tensor<i32>")
        self.lines.append(f'{name} = "stablehlo.case"({index}) ({{')
        for branch in range(2):
            (result,) = self.body([_Value(x.name, x.shape)])
            self.lines.append(f"  stablehlo.return {result.name} : {x.type}")
            self.lines.append("}, {" if branch == 0 else f"}}) : (tensor<i32>) -> {x.type}")
        self.values.append(_Value(name, x.shape))

    def body(self, arguments: list[_Value]) -> list[_Value]:
        """Fill a region; return values of the types of `arguments` that it ends with."""
        outer = self.values
        self.values = [*outer, *arguments]
        self.depth += 1
        for _ in range(1 + self.choose(3)):
            self.op()
        results = [self.value_of(argument.shape) for argument in arguments]
        self.depth -= 1
        self.values = outer
        return results

    def isolated_body(self, argument: _Value) -> tuple[list[str], _Value]:
        """Return the lines of a region that sees its argument alone, and what it ends with."""
        lines, values = self.lines, self.values
        self.lines, self.values = [], []
        (result,) = self.body([argument])
        body, self.lines, self.values = self.lines, lines, values
        return body, result

    def call(self) -> None:
        """Call a function of one argument; a new one or, for the same shape, an old one."""
        if not self.options.regions or self.depth:
            return
        x = self.any_value()
        known = self.functions.setdefault(x.shape, [])
        if not known or self.chance(2):
            name = f"@f{len(self.definitions)}"
            parameter = _Value(f"%p{len(self.definitions)}", x.shape)
            body, result = self.isolated_body(parameter)
            lines = "\n".join(f"  {line}" for line in body)
            self.definitions.append(
                f"func.func private {name}({parameter.name}: {x.type}) -> {x.type} {{\n"
                f"{lines}\n  return {result.name} : {x.type}\n}}\n"
            )
            known.append(name)
        callee = self.pick(known)
        self.emit(
            x.shape,
            f"func.call {callee}({x.name})",
            f"({x.type}) -> {x.type}",
            sharded=False,
        )

    def manual_computation(self) -> None:
        """Make a computation that is local along one axis, by which one dimension is split."""
        if not self.options.regions or self.depth:
            return
        x = self.any_value()
        axis = self.pick(list(self.mesh))
        size = self.mesh[axis]
        split = [at for at, whole in enumerate(x.shape) if whole % size == 0]
        if not split:
            return
        at = self.pick(split)
        local = tuple(w // size if d == at else w for d, w in enumerate(x.shape))
        is_open = ", ?" if self.chance(2) else ""
        dimensions = [f'{{"{axis}"{is_open}}}' if d == at else "{?}" for d in range(len(local))]
        sharding = f"<@mesh, [{', '.join(dimensions)}]>"
        parameter = _Value(self.fresh(), local)
        mesh, self.mesh = self.mesh, {a: n for a, n in self.mesh.items() if a != axis}
        body, result = self.isolated_body(parameter)
        self.mesh = mesh
        name = self.fresh()
        self.lines += [
            f"{name} = sdy.manual_computation({x.name}) in_shardings=[{sharding}] "
            f'out_shardings=[{sharding}] manual_axes={{"{axis}"}} '
            f"({parameter.name}: {parameter.type}) {{",
            *body,
            f"  sdy.return {result.name} : {parameter.type}",
            f"}} : ({x.type}) -> {x.type}",
        ]
        self.values.append(_Value(name, x.shape))

    def op(self) -> None:
        self.pick(_CONFLICT_OPS if self.options.conflicts else _OPS)(self)


def _merges(axes: Sequence[str], axis: str) -> bool:
    """Return whether the last of `axes` and `axis` are consecutive sub-axes."""
    return bool(axes) and ":" in axes[-1] and ":" in axis and axes[-1][:3] == axis[:3]


_OPS: tuple[Callable[[_Program], None], ...] = (
    *(_Program.unary,) * 3,
    *(_Program.binary,) * 5,
    *(_Program.transpose,) * 5,
    *(_Program.dot,) * 4,
    *(_Program.reshape,) * 3,
    _Program.batched_dot,
    *(_Program.broadcast,) * 2,
    _Program.reduce,
    _Program.concatenate,
    _Program.slice,
    _Program.pad,
    _Program.select,
    _Program.reverse,
    _Program.iota,
    _Program.clamp,
    _Program.convert,
    _Program.dynamic_slice,
    _Program.dynamic_update_slice,
    _Program.cholesky,
    _Program.sort,
    _Program.custom_call,
    *(_Program.constraint,) * 2,
    _Program.barrier,
    _Program.group,
    _Program.optimization_barrier,
    _Program.loop,
    _Program.case,
    _Program.call,
    _Program.manual_computation,
)

_CONFLICT_OPS: tuple[Callable[[_Program], None], ...] = (
    *(_Program.unary,) * 3,
    *(_Program.binary,) * 7,
    *(_Program.transpose,) * 4,
    *(_Program.dot,) * 2,
)


def random_program(choose: Chooser, options: ProgramOptions | None = None) -> str:
    """Return the text of a random module."""
    options = options or ProgramOptions()
    mesh = MESHES[choose(len(MESHES))]
    program = _Program(choose, options, mesh)
    side = SIZES[choose(len(SIZES))]
    arguments = []
    for index in range(1 if options.conflicts else 2 + choose(3)):
        is_square = options.conflicts or choose(3)
        shape = (side, side) if is_square else (SIZES[choose(len(SIZES))], side)
        program.values.append(_Value(f"%a{index}", shape))
        is_annotated = not options.conflicts and choose(3) == 0
        arguments.append(program.argument(program.values[-1], is_annotated=is_annotated))
    late = _Value("%late", (side, side))
    if options.conflicts:
        arguments.append(program.argument(late, is_annotated=True))
    for _ in range(options.ops):
        program.op()
    if options.conflicts:
        program.meet(late)
    returned = program.values[-1 - choose(2) :]
    if options.conflicts or not options.dead_ops:
        returned = [value for value in program.values if value.uses == 0]
    results = [
        value.type
        + (
            f" {{sdy.sharding = #sdy.sharding<{program.sharding(value.shape)}>}}"
            if choose(6) == 0
            else ""
        )
        for value in returned
    ]
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    lines = "\n".join(f"  {line}" for line in program.lines)
    return (
        f"sdy.mesh @mesh = <[{axes}]>\n"
        f"{''.join(program.definitions)}"
        f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f"{lines}\n"
        f"  return {', '.join(v.name for v in returned)} : {_types(*returned)}\n"
        "}\n"
    )
