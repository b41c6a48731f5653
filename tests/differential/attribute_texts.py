"""Random attribute texts, valid and mutated, and the modules in which MLIR judges them."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import (
    parse_manual_axes,
    parse_mesh,
    parse_rule,
    parse_sharding,
    parse_sharding_per_value,
)
from sdy.dialect.printer import to_mlir

if TYPE_CHECKING:
    from collections.abc import Callable

MESHES = {
    mesh.name: mesh
    for mesh in (
        Mesh({"x": 2, "y": 8, "z": 3}, name="m"),
        Mesh({"a": 36, "b": 1}, range(35, -1, -1), name="big.mesh"),
        Mesh({"x": 4, 'q"': 2}, name="a b"),
        Mesh.maximal(3, "maximal"),
        Mesh(name="empty"),
    )
    if mesh.name is not None
}
# The axes of each mesh, in its order, as lists of parts that do not overlap.
PARTS = {
    "@m": ['"x"', '"y":(1)2', '"y":(4)2', '"z"'],
    "@big.mesh": ['"a":(1)2', '"a":(6)3', '"b"'],
    '@"a b"': ['"x"', r'"q\""'],
    "@maximal": [],
    "@empty": [],
    "@nowhere": ['"x"'],
}
ODD_AXES = [
    *['"x"', '"y"', '"a"', '"nowhere"', '"y":(1)4', '"y":(2)2', '"y":(2)4', '"y":(1)8', '"y":(0)2'],
    *['"y":(2)1', '"y":(3)2', '"a":(1)4', '"a":(6)6', '"a":(4)9', '"z":(1)3', '"x":(1)2'],
]
SHAPES = ["", "4x", "4x8x", "4x8x3x", "?x8x"]
TOKEN = re.compile(r'"[^"]*"|#?[\w.]+|->|\S')
BRACKET_IN_COMMENT = re.compile(r"//[^\n]*[][<>(){}\"]")
WORDS = [
    *'<>[]{}(),:=?"#@-',
    *["->", "p1", "p01", "q1", "replicated", "unreduced", "mesh", "device_ids", "custom"],
    *["reduction", "need_replication", "permutation", "blocked_propagation", "@m", "@maximal"],
    *["@nowhere", '@"a b"', "@a::@b", '"x"', '"y"', '""', '"\\78"', '"\\q"', "i", "ij", "z_1"],
    *["z_", "z_0", "a", "0", "1", "2", "3", "8", "-1", "0x2", "007", "2.5", "true", "// c\n"],
]
CHARACTERS = ' \n\t"#@<>{}[]()?:,=-p0128xyijz_.\\/é'


@dataclass(frozen=True)
class Case:
    """An attribute, the module that MLIR is to verify, and our verdict on the attribute."""

    kind: str
    text: str
    module: str
    ours: Callable[[], str]


def mesh_text(rng: random.Random) -> str:
    names = rng.sample("xyz", rng.choice([0, 1, 2, 2])) + (["x"] if rng.random() < 0.1 else [])
    sizes = [rng.choice([1, 2, 2, 3, 4]) for _ in names]
    axes = ", ".join(f'"{name}"={size}' for name, size in zip(names, sizes, strict=True))
    device_ids = list(range(math.prod(sizes) + (rng.random() < 0.1)))
    rng.shuffle(device_ids)
    ids = ", ".join(map(str, device_ids))
    return f"#sdy.mesh<[{axes}]" + (f", device_ids=[{ids}]>" if rng.random() < 0.5 else ">")


class Axes:
    """Deals the axes of a mesh, each once; now and then an axis that should not be there."""

    def __init__(self, rng: random.Random, parts: list[str]) -> None:
        self._rng = rng
        self._order = parts
        self._left = rng.sample(parts, len(parts))

    def deal(self, count: int, *, ordered: bool = False) -> list[str]:
        dealt = [self._left.pop() for _ in range(min(count, len(self._left)))]
        if ordered:
            dealt.sort(key=self._order.index)
        if self._rng.random() < 0.05:
            dealt.insert(self._rng.randint(0, len(dealt)), self._rng.choice(ODD_AXES))
        return dealt


def dimension_text(rng: random.Random, axes: Axes) -> str:
    entries = axes.deal(rng.choice([0, 0, 1, 1, 2]))
    is_open = rng.random() < 0.4
    has_priority = rng.random() < (0.3 if entries or is_open else 0.03)
    entries += ["?"] if is_open else []
    return "{" + ", ".join(entries) + "}" + (rng.choice(["p0", "p2"]) if has_priority else "")


def sharding_body(rng: random.Random, rank: int) -> str:
    mesh = rng.choices([*PARTS, "inlined"], [8, 4, 2, 1, 1, 0.3, 3])[0]
    parts = PARTS.get(mesh, ['"x"', '"y"', '"z"'])
    if mesh == "inlined":
        mesh = mesh_text(rng).removeprefix("#sdy.")
        parts = [name for name in parts if f"{name}=" in mesh]
    if mesh == "@maximal" and rng.random() < 0.8:
        return f"{mesh}, []"
    axes = Axes(rng, parts)
    rank = rank if rng.random() < 0.97 else rank + 1
    dimensions = ", ".join(dimension_text(rng, axes) for _ in range(rank))
    sets = [_axis_set_text(rng, axes, kind) for kind in ("replicated", "unreduced")]
    return f"{mesh}, [{dimensions}]{''.join(rng.sample(sets, 2))}"


def _axis_set_text(rng: random.Random, axes: Axes, kind: str) -> str:
    entries = axes.deal(rng.choice([0, 0, 1, 2]), ordered=rng.random() < 0.9)
    return f", {kind}={{{', '.join(entries)}}}" if entries else ""


def rule_text(rng: random.Random, operands: list[list[int]], result: list[int]) -> str:
    """Return a rule of an op whose tensors have these factors; it may be wrong by chance."""
    letters = "ijklmn"
    used = {factor for tensor in [*operands, result] for factor in tensor}
    count = len(used) if rng.random() < 0.95 else len(used) + 1

    def mapping(factors: list[int]) -> str:
        return "[" + ", ".join(letters[f] for f in factors) + "]"

    def factor_set(keyword: str) -> str:
        if count == 0 or rng.random() < 0.8:
            return ""
        factors = sorted(rng.sample(range(count), rng.randint(0, min(2, count))))
        return f" {keyword}={{{', '.join(letters[f] for f in factors)}}}"

    sets = ("reduction", "need_replication", "permutation", "blocked_propagation")
    sizes = ", ".join(f"{letters[f]}={rng.choice([1, 2, 4, 8])}" for f in range(count))
    return (
        f"#sdy.op_sharding_rule<({', '.join(map(mapping, operands))})->({mapping(result)})"
        + (f" {{{sizes}}}" if sizes else "")
        + "".join(map(factor_set, sets))
        + rng.choice(["", ", custom"])
        + ">"
    )


def _renumbered(tensors: list[list[int]]) -> list[list[int]]:
    """Return the factors of tensors with no number left out."""
    used = sorted({factor for tensor in tensors for factor in tensor})
    return [[used.index(factor) for factor in tensor] for tensor in tensors]


def mutated(rng: random.Random, text: str) -> str:
    """Return `text` with one or two changes, of tokens or of characters."""
    changed = text
    for _ in range(rng.choice([1, 1, 1, 2])):
        mutate = _mutate_token if rng.random() < 0.6 else _mutate_character
        changed = mutate(rng, changed)
    return mutated(rng, text) if BRACKET_IN_COMMENT.search(changed) else changed


def _mutate_token(rng: random.Random, text: str) -> str:
    spans = [match.span() for match in TOKEN.finditer(text)]
    if len(spans) < 3:
        return text
    place = rng.randrange(1, len(spans) - 1)
    (start, end), (next_start, next_end) = spans[place], spans[place + 1]
    token, following = text[start:end], text[next_start:next_end]
    match rng.choice(["delete", "repeat", "swap", "replace", "insert"]):
        case "delete":
            new = ""
        case "repeat":
            new = f"{token} {token}"
        case "swap":
            return text[:start] + following + text[end:next_start] + token + text[next_end:]
        case "replace":
            new = rng.choice(WORDS)
        case _:
            new = token + rng.choice(WORDS)
    return text[:start] + new + text[end:]


def _mutate_character(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    match rng.choice(["delete", "insert", "replace", "cut"]):
        case "delete":
            return text[:place] + text[place + 1 :]
        case "insert":
            return text[:place] + rng.choice(CHARACTERS) + text[place:]
        case "replace":
            return text[:place] + rng.choice(CHARACTERS) + text[place + 1 :]
        case _:
            return text[:place] if rng.random() < 0.3 else text[:place] + text[place + 2 :]


def _module(body: str) -> str:
    meshes = "".join(f"sdy.mesh {mesh}\n" for mesh in MESHES.values())
    return f"{meshes}{body}\n"


def _shape(text: str) -> list[int | None]:
    return [None if size == "?" else int(size) for size in text.split("x")[:-1]]


def mesh_case(rng: random.Random, change: bool) -> Case:
    text = mesh_text(rng)
    text = mutated(rng, text) if change else text
    module = f'"sdy.mesh"() <{{sym_name = "new", mesh = {text}}}> : () -> ()'
    return Case("mesh", text, _module(module), lambda: to_mlir(parse_mesh(text)))


def sharding_case(rng: random.Random, change: bool) -> Case:
    shape = rng.choice(SHAPES)
    text = f"#sdy.sharding<{sharding_body(rng, shape.count('x'))}>"
    text = mutated(rng, text) if change else text
    attributes = f"{{sdy.sharding = {text}}}"
    kind = rng.choice(["argument", "result", "constraint"])
    tensor = f"tensor<{shape}f32>"
    match kind:
        case "argument":
            module = (
                f"func.func @f(%a: {tensor} {attributes}) -> {tensor} {{ return %a : {tensor} }}"
            )
        case "result":
            module = (
                f"func.func @f(%a: {tensor}) -> ({tensor} {attributes}) {{ return %a : {tensor} }}"
            )
        case _:
            module = (
                f"func.func @f(%a: {tensor}) {{\n"
                f'  %0 = "sdy.sharding_constraint"(%a) <{{sharding = {text}}}> '
                f": ({tensor}) -> {tensor}\n"
                "  return }"
            )

    def ours() -> str:
        sharding = parse_sharding(text, MESHES)
        sharding.verify(shape=_shape(shape))
        return to_mlir(sharding)

    return Case(kind, text, _module(module), ours)


def per_value_case(rng: random.Random, change: bool) -> Case:
    shapes = [rng.choice(SHAPES) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    count = rng.choice([len(shapes)] * 8 + [1, 2])
    ranks = [shape.count("x") for shape in shapes] + [0] * 3
    bodies = ", ".join(f"<{sharding_body(rng, ranks[index])}>" for index in range(count))
    text = f"#sdy.sharding_per_value<[{bodies}]>"
    text = mutated(rng, text) if change else text
    types = ", ".join(f"tensor<{shape}f32>" for shape in shapes)
    results = f"%0:{len(shapes)} = " if shapes else ""
    module = (
        f'func.func @f() {{ {results}"stablehlo.custom_call"() {{call_target_name = "foo", '
        f"sdy.sharding = {text}}} : () -> ({types})\n return }}"
    )

    def ours() -> str:
        per_value = parse_sharding_per_value(text, MESHES)
        per_value.verify([_shape(shape) for shape in shapes])
        return to_mlir(per_value)

    return Case("per value", text, _module(module), ours)


def rule_case(rng: random.Random, change: bool) -> Case:
    tensors = [rng.sample(range(4), rng.randint(0, 3)) for _ in range(rng.choice([2, 3, 3]))]
    *operands, result = _renumbered(tensors)
    text = rule_text(rng, operands, result)
    text = mutated(rng, text) if change else text
    types = ["tensor<" + "4x" * len(factors) + "f32>" for factors in operands]
    arguments = ", ".join(f"%{index}: {type_}" for index, type_ in enumerate(types))
    names = ", ".join(f"%{index}" for index in range(len(types)))
    module = (
        f"func.func @f({arguments}) {{\n"
        f'  %r = "stablehlo.custom_call"({names}) {{call_target_name = "foo", '
        f"sdy.sharding_rule = {text}}} : ({', '.join(types)}) -> tensor<{'4x' * len(result)}f32>\n"
        "  return }"
    )

    def ours() -> str:
        rule = parse_rule(text)
        rule.verify([[4] * len(factors) for factors in operands], [[4] * len(result)])
        return to_mlir(rule)

    return Case("rule", text, _module(module), ours)


def manual_axes_case(rng: random.Random, change: bool) -> Case:
    names = rng.sample(["x", "y", "z", "nowhere"], rng.randint(0, 2))
    text = "#sdy<manual_axes{" + ", ".join(f'"{name}"' for name in names) + "}>"
    text = mutated(rng, text) if change else text
    sharding = "#sdy.sharding_per_value<[<@m, [{}]>]>"
    module = (
        "func.func @f(%a: tensor<4xf32>) {\n"
        f'  %0 = "sdy.manual_computation"(%a) <{{in_shardings = {sharding}, '
        f"out_shardings = {sharding}, manual_axes = {text}}}> ({{\n^bb0(%b: tensor<4xf32>):\n"
        '    "sdy.return"(%b) : (tensor<4xf32>) -> ()\n  }) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return }"
    )

    def ours() -> str:
        manual = parse_manual_axes(text)
        manual.verify(MESHES["m"])
        return to_mlir(manual)

    return Case("manual axes", text, _module(module), ours)


MAKERS = [mesh_case, sharding_case, sharding_case, per_value_case, rule_case, manual_axes_case]


def cases(seed: int, count: int) -> list[Case]:
    """Return so many cases, more than half of them mutated."""
    rng = random.Random(seed)
    return [rng.choice(MAKERS)(rng, rng.random() < 0.6) for _ in range(count)]
