"""Random programs of reshards, sdy collectives, reshapes and dead ops; each parses and verifies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["random_program"]

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2, "d"=4]>'
AXES = ("a", "b", "c", "d:1", "d:2")
SHAPES = ((8, 8), (64,), (4, 2, 8), (8, 2, 4), (2, 4, 2, 4))

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """A value with its shape and, if it has one, the axes of its dimensions."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[Axes, ...] | None = None
    unreduced: Axes = ()
    is_open: bool = False

    @property
    def type(self) -> str:
        return "tensor<" + "x".join(map(str, self.shape)) + "xf32>"

    @property
    def free(self) -> list[str]:
        used = {axis for dimension in self.axes or () for axis in dimension}
        return [axis for axis in AXES if axis not in used and axis not in self.unreduced]

    @property
    def body(self) -> str:
        """The text of the sharding without its angle brackets."""
        lists = map(axis_list, self.axes or ((),) * len(self.shape))
        dimensions = ", ".join(
            text.replace("{}", "{?}") if self.is_open else text for text in lists
        )
        unreduced = f", unreduced={axis_list(self.unreduced)}" if self.unreduced else ""
        return f"@mesh, [{dimensions}]{unreduced}"

    @property
    def out(self) -> str:
        return f"out_sharding=<{self.body}> : {self.type}"


def axis_list(axes: Axes) -> str:
    """Return axes in braces, the two halves of `d` merged where they meet."""
    parts = list(axes)
    while ("d:1", "d:2") in pairwise(parts):
        at = parts.index("d:1")
        parts[at : at + 2] = ["d"]
    text = {"d:1": '"d":(1)2', "d:2": '"d":(2)2'}
    return "{" + ", ".join(text.get(part, f'"{part}"') for part in parts) + "}"


def in_order(axes: set[str]) -> Axes:
    """Return axes as they lie in the mesh."""
    return tuple(axis for axis in AXES if axis in axes)


@dataclass
class Generator:
    """Adds ops to a program, each on values that are there."""

    random: Random
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)

    def name(self) -> str:
        return f"%v{len(self.lines)}"

    def pick(self) -> Value:
        """Return a value, a recent one more often."""
        recent = self.values[-4:]
        return self.random.choice(recent if self.random.random() < 0.7 else self.values)

    def emit(self, text: str, result: Value) -> None:
        self.lines.append(f"  {result.name} = {text}")
        self.values.append(result)

    def some(self, axes: list[str], most: int) -> list[str]:
        return self.random.sample(axes, self.random.randint(0, min(most, len(axes))))

    def reshard(self, value: Value) -> None:
        axes: list[list[str]] = [[] for _ in value.shape]
        for axis in self.some(list(AXES[:3]), 2):
            self.random.choice(axes).append(axis)
        is_open = self.random.random() < 0.3
        result = Value(self.name(), value.shape, tuple(map(tuple, axes)), is_open=is_open)
        self.emit(f"sdy.reshard {value.name} <{result.body}> : {value.type}", result)

    def all_slice(self, value: Value) -> None:
        added: list[list[str]] = [[] for _ in value.shape]
        for axis in self.some(value.free, 2):
            self.random.choice(added).append(axis)
        if value.axes is not None or any(added):
            self.slice_by(value, tuple(map(tuple, added)))

    def slice_by(self, value: Value, added: tuple[Axes, ...]) -> None:
        before = value.axes or ((),) * len(value.shape)
        axes = tuple(old + new for old, new in zip(before, added, strict=True))
        result = replace(value, name=self.name(), axes=axes)
        lists = ", ".join(map(axis_list, added))
        self.emit(f"sdy.all_slice [{lists}] {value.name} {result.out}", result)

    def all_gather(self, value: Value) -> None:
        if value.axes is None:
            return
        kept = [self.random.randint(0, len(axes)) for axes in value.axes]
        gathered = tuple(axes[n:] for axes, n in zip(value.axes, kept, strict=True))
        axes = tuple(axes[:n] for axes, n in zip(value.axes, kept, strict=True))
        result = replace(value, name=self.name(), axes=axes)
        lists = ", ".join(map(axis_list, gathered))
        self.emit(f"sdy.all_gather [{lists}] {value.name} {result.out}", result)
        if self.random.random() < 0.5:
            self.slice_by(result, gathered)

    def all_reduce(self, value: Value) -> None:
        axes = in_order(set(self.some(value.free, 2)))
        if value.axes is None and not axes:
            return
        result = replace(value, name=self.name(), axes=value.axes or ((),) * len(value.shape))
        self.emit(f"sdy.all_reduce {axis_list(axes)} {value.name} {result.out}", result)
        for _ in range(self.random.choice([0, 1, 1, 2])):
            at = self.random.randrange(len(value.shape))
            added = [axes if i == at else () for i in range(len(value.shape))]
            rest = [axis for axis in result.free if axis not in axes]
            added[at] += tuple(self.some(rest, 1))
            self.slice_by(result, tuple(added))

    def unreduced_and_back(self, value: Value) -> None:
        axes = in_order(set(self.some(value.free, 2)))
        if value.axes is None or not axes:
            return
        unreduced = in_order({*value.unreduced, *axes})
        middle = replace(value, name=self.name(), unreduced=unreduced)
        text = f"{axis_list(axes)} {value.name} {middle.out}"
        self.emit(f"sdy.replicated_to_unreduced {text}", middle)
        self.reduce_back(middle, axes, value.unreduced)

    def sharded_to_unreduced(self, value: Value) -> None:
        if not any(value.axes or ()):
            return
        assert value.axes is not None
        moved = in_order({axis for axes in value.axes for axis in axes})
        whole = ((),) * len(value.shape)
        unreduced = in_order({*value.unreduced, *moved})
        middle = replace(value, name=self.name(), axes=whole, unreduced=unreduced)
        lists = ", ".join(map(axis_list, value.axes))
        self.emit(f"sdy.sharded_to_unreduced [{lists}] {value.name} {middle.out}", middle)
        self.reduce_back(middle, moved, value.unreduced)

    def reduce_back(self, value: Value, axes: Axes, unreduced: Axes) -> None:
        result = replace(value, name=self.name(), unreduced=unreduced)
        self.emit(f"sdy.all_reduce {axis_list(axes)} {value.name} {result.out}", result)

    def reduce_scatter(self, value: Value) -> None:
        if value.axes is None:
            return
        at = self.random.randrange(len(value.shape))
        added = [tuple(self.some(value.free, 1)) if i == at else () for i in range(len(value.axes))]
        axes = tuple(old + new for old, new in zip(value.axes, added, strict=True))
        result = replace(value, name=self.name(), axes=axes)
        lists = ", ".join(map(axis_list, added))
        self.emit(f"sdy.reduce_scatter [{lists}] {value.name} {result.out}", result)

    def all_to_all(self, value: Value) -> None:
        sources = [i for i, axes in enumerate(value.axes or ()) if axes]
        targets = [i for i in range(len(value.shape)) if i not in sources[:1]]
        if not sources or not targets:
            return
        assert value.axes is not None
        source, target = sources[0], self.random.choice(targets)
        moved = value.axes[source][-1:]
        axes = list(value.axes)
        axes[source] = axes[source][:-1]
        axes[target] += moved
        result = replace(value, name=self.name(), axes=tuple(axes))
        param = f"[{axis_list(moved)}: {source}->{target}]"
        self.emit(f"sdy.all_to_all {param} {value.name} {result.out}", result)

    def collective_permute(self, value: Value) -> None:
        if value.axes is None:
            return
        swap = dict(zip("ab", self.random.choice(["ab", "ba"]), strict=True))
        axes = tuple(tuple(swap.get(axis, axis) for axis in dim) for dim in value.axes)
        result = replace(value, name=self.name(), axes=axes)
        if set(value.unreduced) & {"a", "b"}:
            return
        self.emit(f"sdy.collective_permute {value.name} {result.out}", result)

    def elementwise(self, value: Value) -> None:
        other = self.random.choice([v for v in self.values if v.shape == value.shape])
        result = replace(value, name=self.name(), unreduced=())
        attribute = ""
        if result.axes is not None:
            attribute = f" {{sdy.sharding = #sdy.sharding_per_value<[<{result.body}>]>}}"
        text = f"stablehlo.add {value.name}, {other.name}{attribute} : {value.type}"
        self.emit(text, result)

    def reshape(self, value: Value) -> None:
        result = Value(self.name(), self.random.choice(SHAPES))
        text = f"stablehlo.reshape {value.name} : ({value.type}) -> {result.type}"
        self.emit(text, result)

    def transpose(self, value: Value) -> None:
        order = self.random.sample(range(len(value.shape)), len(value.shape))
        result = Value(self.name(), tuple(value.shape[i] for i in order))
        text = f"stablehlo.transpose {value.name}, dims = {order}"
        self.emit(f"{text} : ({value.type}) -> {result.type}", result)

    def constant(self, value: Value) -> None:
        result = Value(self.name(), value.shape)
        number = self.random.choice(["1.0", "2.0"])
        self.emit(f"stablehlo.constant dense<{number}> : {value.type}", result)


WEIGHTS: dict[Callable[[Generator, Value], None], int] = {
    Generator.reshard: 8,
    Generator.all_slice: 2,
    Generator.all_gather: 2,
    Generator.all_reduce: 3,
    Generator.unreduced_and_back: 1,
    Generator.sharded_to_unreduced: 1,
    Generator.reduce_scatter: 1,
    Generator.all_to_all: 4,
    Generator.collective_permute: 1,
    Generator.elementwise: 3,
    Generator.reshape: 3,
    Generator.transpose: 2,
    Generator.constant: 1,
}


def random_program(seed: int) -> str:
    """Return the program of that seed."""
    random = Random(seed)
    generator = Generator(random)
    generator.values += [
        Value("%arg0", (8, 8), (("a",), ("b", "c"))),
        Value("%arg1", (8, 8)),
        Value("%arg2", (4, 2, 8), (("d:1",), (), ())),
    ]
    arguments = [
        f"{v.name}: {v.type}" + (f" {{sdy.sharding = #sdy.sharding<{v.body}>}}" if v.axes else "")
        for v in generator.values
    ]
    for _ in range(random.randint(3, 16)):
        step = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        step(generator, generator.pick())
    made = generator.values[3:] or generator.values[:1]
    returned = random.sample(made, random.randint(1, min(4, len(made))))
    types = ", ".join(v.type for v in returned)
    return "\n".join(
        [
            MESH,
            f"func.func @main({', '.join(arguments)}) -> ({types}) {{",
            *generator.lines,
            f"  return {', '.join(v.name for v in returned)} : {types}",
            "}",
        ]
    )
