"""Documents of explanations, made without a program: as large and as strange as a test needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Frame = tuple[str, int, str]
"""A file, a line and a function."""

Axes = Sequence[Sequence[str]]
"""For each dimension the axes that split it."""


_TABLES = (
    "functions",
    "values",
    "ops",
    "arrivals",
    "annotations",
    "moves",
    "shardings",
    "places",
)


class Draft:
    """A document that grows. Numbers of things are their indices in its tables.

    An axis of an operand that is also one of the result came forward from there; the others of
    a result are annotated.
    """

    def __init__(self, axes: Mapping[str, int], device_ids: Sequence[int] = ()) -> None:
        self.sizes = dict(axes)
        self.mesh = "mesh"
        self.function = "main"
        self.tables: dict[str, list[Any]] = {
            name: [] for name in (*_TABLES, "communication", "suggestions")
        }
        self.why: dict[str, list[list[Any]]] = {}
        self.why_not: dict[str, list[dict[str, Any]]] = {}
        self._device_ids = list(device_ids)
        self._known: dict[str, int] = {}
        self.begin("main")

    def begin(self, function: str) -> None:
        """Start a function; what is made from now on is in it."""
        self.function = function
        self.tables["functions"].append(
            {"name": function, "arguments": [], "results": [], "ops": []}
        )

    def place(self, label: str = "", *frames: Frame) -> int:
        rows = [
            {"file": file, "line": line, "column": 7, "function": function}
            for file, line, function in frames
        ]
        return self._row("places", {"label": label, "frames": rows})

    def sharding(
        self, axes: Axes, *, is_closed: bool = False, unreduced: Iterable[str] = ()
    ) -> int:
        dims = ", ".join("{" + ", ".join(f'"{axis}"' for axis in dim) + "}" for dim in axes)
        return self._row(
            "shardings",
            {
                "mesh": self.mesh,
                "dimensions": [{"axes": list(dim), "is_closed": is_closed} for dim in axes],
                "replicated": [],
                "unreduced": list(unreduced),
                "text": f"sharding<@{self.mesh}, [{dims}]>",
            },
        )

    def argument(self, label: str, shape: Sequence[int], axes: Axes) -> int:
        row = self.tables["functions"][-1]
        name = f"%arg{len(row['arguments'])}"
        value = self._value(name, label, shape, axes, op=None, place=self.place(label))
        row["arguments"].append(value)
        self._annotate(value, "argument", f"argument {name} ({label})", axes)
        return value

    def result(self, value: int) -> int:
        """Let the function return a value, as its next result."""
        row = self.tables["functions"][-1]
        source = self.tables["values"][value]
        name = f"@{self.function} result {len(row['results'])}"
        made = len(self.tables["values"])
        own = {"name": name, "spelling": name, "label": "", "op": None, "place": self.place()}
        self.tables["values"].append({**source, **own})
        row["results"].append(made)
        return made

    def op(
        self,
        name: str,
        operands: Sequence[int],
        shape: Sequence[int] | None,
        axes: Axes = (),
        *,
        place: int | None = None,
        parent: int | None = None,
        target: str = "",
        label: str = "",
    ) -> int:
        """Add an op with one result; with none where there is no shape."""
        number = len(self.tables["ops"])
        where = self.place() if place is None else place
        row: dict[str, Any] = {
            "name": name,
            "target": target,
            "function": self.function,
            "operands": list(operands),
            "results": [],
            "arguments": [],
            "parent": parent,
            "place": where,
        }
        self.tables["ops"].append(row)
        if parent is None:
            self.tables["functions"][-1]["ops"].append(number)
        if shape is not None:
            value = self._value(f"%{number}", label, shape, axes, op=number, place=where)
            row["results"].append(value)
            self._carry(value, row, number, axes)
        return number

    def inner_argument(self, op: int, shape: Sequence[int], axes: Axes) -> int:
        """Add a block argument to the regions of an op."""
        name = f"%arg{len(self.tables['values'])}"
        value = self._value(name, "", shape, axes, op=op, place=self.place())
        self.tables["ops"][op]["arguments"].append(value)
        return value

    def output(self, op: int) -> int:
        """Return the result of an op."""
        return int(self.tables["ops"][op]["results"][0])

    def communicate(
        self,
        op: int,
        value: int,
        kind: str,
        axes: Sequence[str],
        size: int,
        *,
        reason: str = "reshard",
        times: int = 1,
        seconds: float | None = None,
        rematerializes: bool = False,
    ) -> None:
        row = self.tables["values"][value]
        self.tables["communication"].append(
            {
                "op": op,
                "value": value,
                "place": self.tables["ops"][op]["place"],
                "reason": reason,
                "from": row["sharding"],
                "to": self.sharding([[] for _ in row["shape"]]),
                "shape": row["shape"],
                "element_type": "f32",
                "times": times,
                "bytes": times * size,
                "seconds": None if seconds is None else times * seconds,
                "rematerializes": rematerializes,
                "collectives": [
                    {"kind": kind, "axes": list(axes), "bytes": size, "seconds": seconds}
                ],
            }
        )

    def document(self, topology: str | None = None, **more: Any) -> dict[str, Any]:
        return {
            "version": 1,
            "meshes": [
                {
                    "name": self.mesh,
                    "axes": [{"name": name, "size": size} for name, size in self.sizes.items()],
                    "devices": math.prod(self.sizes.values()),
                    "device_ids": self._device_ids,
                }
            ],
            "why": self.why,
            "why_not": self.why_not,
            "memory": {"arguments": 4096, "results": 1024, "peak": 3 * 1024**2, "peak_op": 0},
            "topology": None if topology is None else {"name": topology},
            **self.tables,
            **more,
        }

    # Rows.

    def _row(self, table: str, row: dict[str, Any]) -> int:
        """Return the index of an equal row, added where there is none."""
        key = f"{table} {row}"
        if key not in self._known:
            self._known[key] = len(self.tables[table])
            self.tables[table].append(row)
        return self._known[key]

    def _value(
        self,
        name: str,
        label: str,
        shape: Sequence[int],
        axes: Axes,
        *,
        op: int | None,
        place: int,
    ) -> int:
        local = [
            -(-size // math.prod(self._size(axis) for axis in (axes[dim] if axes else ())))
            for dim, size in enumerate(shape)
        ]
        self.tables["values"].append(
            {
                "name": name,
                "function": self.function,
                "spelling": name if self.function == "main" else f"@{self.function}:{name}",
                "label": label,
                "type": f"tensor<{''.join(f'{size}x' for size in shape)}f32>",
                "shape": list(shape),
                "element_type": "f32",
                "sharding": self.sharding(axes) if axes else None,
                "local_shape": local,
                "manual_axes": [],
                "op": op,
                "place": place,
            }
        )
        return len(self.tables["values"]) - 1

    def _size(self, axis: str) -> int:
        name, _, sub_axis = axis.partition(":(")
        return int(sub_axis.partition(")")[2]) if sub_axis else self.sizes[name]

    def _annotate(self, value: int, kind: str, text: str, axes: Axes) -> None:
        row = self.tables["values"][value]
        self.tables["annotations"].append(
            {
                "kind": kind,
                "value": value,
                "sharding": row["sharding"],
                "place": row["place"],
                "text": text,
            }
        )
        annotation = len(self.tables["annotations"]) - 1
        for dim, names in enumerate(axes):
            for axis in names:
                self._arrive(value, dim, axis, annotation=annotation)

    def _carry(self, value: int, row: dict[str, Any], op: int, axes: Axes) -> None:
        reached = {
            axis: arrival
            for operand in reversed(row["operands"])
            for _, axis, arrival in self.why.get(str(operand), [])
        }
        move: int | None = None
        for dim, names in enumerate(axes):
            for axis in names:
                if axis not in reached:
                    text = f"constraint on {self.tables['values'][value]['name']}"
                    self._annotate(value, "constraint", text, [[]] * dim + [[axis]])
                    continue
                if move is None:
                    move = len(self.tables["moves"])
                    self.tables["moves"].append(
                        {
                            "op": op,
                            "op_name": row["name"],
                            "place": row["place"],
                            "factor": "i",
                            "direction": "forward",
                            "user_priority": 0,
                            "op_priority": 1,
                            "strategy": "aggressive",
                        }
                    )
                self._arrive(value, dim, axis, move=move, previous=reached[axis])

    def _arrive(
        self,
        value: int,
        dim: int,
        axis: str,
        *,
        move: int | None = None,
        annotation: int | None = None,
        previous: int | None = None,
    ) -> None:
        self.tables["arrivals"].append(
            {
                "value": value,
                "name": self.tables["values"][value]["name"],
                "dim": dim,
                "axis": axis,
                "move": move,
                "annotation": annotation,
                "previous": previous,
            }
        )
        self.why.setdefault(str(value), []).append([dim, axis, len(self.tables["arrivals"]) - 1])


# Whole documents.


def perceptron() -> Draft:
    """Return two matrix products; the second one is moved, and adds up parts of a sum."""
    draft = Draft({"data": 2, "model": 4})
    x = draft.argument("x", [16, 32], [["data"], []])
    first = draft.argument("weights[0]", [32, 64], [[], ["model"]])
    second = draft.argument("weights[1]", [64, 16], [["model"], []])
    line = draft.place("jit(f)/dot_general", ("/home/me/model.py", 12, "layer"))
    other = draft.place("jit(f)/tanh", ("/home/me/model.py", 13, "layer"))
    hidden = draft.op(
        "stablehlo.dot_general", [x, first], [16, 64], [["data"], ["model"]], place=line
    )
    bent = draft.op(
        "stablehlo.tanh", [draft.output(hidden)], [16, 64], [["data"], ["model"]], place=other
    )
    out = draft.op(
        "stablehlo.dot_general", [draft.output(bent), second], [16, 16], [["data"], []], place=line
    )
    draft.op("func.return", [draft.output(out)], None)
    draft.result(draft.output(out))
    draft.communicate(
        out, draft.output(out), "all-reduce", ["model"], 768, reason="reduction", seconds=2e-6
    )
    draft.communicate(bent, draft.output(hidden), "all-gather", ["data"], 4096, seconds=5e-6)
    return draft


def tower(layers: int, width: int = 8) -> Draft:
    """Return many equal layers, one after the other, each with a matrix product and a sum.

    There are `width + 2` ops a layer.
    """
    draft = Draft({"data": 4, "model": 2})
    value = draft.argument("x", [64, 128], [["data"], []])
    lines = [
        draft.place(f"jit(step)/op{n}", ("model.py", 40 + n, "layer"), ("model.py", 90, "step"))
        for n in range(width)
    ]
    products = draft.place(
        "jit(step)/dot_general", ("model.py", 60, "dense"), ("model.py", 90, "step")
    )
    for layer in range(layers):
        weight = draft.argument(f"layers[{layer}]['w']", [128, 128], [[], ["model"]])
        dot = draft.op(
            "stablehlo.dot_general",
            [value, weight],
            [64, 128],
            [["data"], ["model"]],
            place=products,
        )
        draft.communicate(dot, value, "all-gather", ["model"], 16384)
        branch = draft.output(dot)
        for line in lines:
            op = draft.op("stablehlo.tanh", [branch], [64, 128], [["data"], ["model"]], place=line)
            branch = draft.output(op)
        total = draft.op(
            "stablehlo.add", [value, branch], [64, 128], [["data"], ["model"]], place=lines[-1]
        )
        value = draft.output(total)
    draft.op("func.return", [value], None)
    draft.result(value)
    return draft
