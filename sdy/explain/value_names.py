"""Values of a program by what they are called: in its text, or in the source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, VerifyError, check_type
from sdy.dialect.suggestion import did_you_mean
from sdy.explain.program import MAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.explain.program import Program, Value

__all__ = ["check_dimension", "find_value", "parse_axis"]

_AXIS = re.compile(r'(?P<quote>"?)(?P<name>.+?)(?P=quote)(?::\((?P<pre>\d+)\)(?P<size>\d+))?')
_QUALIFIED = re.compile(r"@(?P<function>.+):(?P<name>%.+)", re.DOTALL)
_OCCURRENCE = re.compile(r"(?P<name>%.+)/(?P<occurrence>\d{1,9})", re.DOTALL)
_MOST_SHOWN = 8


def find_value(
    program: Program, name: str, function: str = MAIN, *, occurrence: int | None = None
) -> Value:
    """Return the value that is called so.

    Args:
      program: the program.
      name: as `sdy.shardings` has it, `%42`, `%arg0` or `@main result 0`; `@f:%42` for one of
        another function, `%42/1` for the second of several; or what the source calls it, such as
        `params['w']`.
      function: in which function the name stands, if the name itself does not say so.
      occurrence: which value of that name, from 0 in the order of the text. Regions of one
        function may use the same names.

    Raises:
      Error: where there is no such value, or several.

    """
    check_type(name, str, "name", "a str")
    check_type(function, str, "function", "a str")
    qualified = _QUALIFIED.fullmatch(name)
    if qualified:
        function, name = qualified["function"], qualified["name"]
    numbered = _OCCURRENCE.fullmatch(name)
    if numbered:
        name, occurrence = numbered["name"], int(numbered["occurrence"])
    known = [v for v in program.values if v.function == function or name.startswith("@")]
    found = [value for value in known if value.name == name]
    found = found or [value for value in known if value.label == name]
    if not found:
        raise Error(_no_such_value(program, name, function, known))
    if occurrence is None and len(found) > 1:
        raise Error(_several_values(program, name, found))
    if occurrence is not None and not 0 <= occurrence < len(found):
        raise Error(f"'{name}' names {len(found)} values, there is no occurrence {occurrence}")
    return found[occurrence or 0]


def _no_such_value(program: Program, name: str, function: str, known: Sequence[Value]) -> str:
    functions = [read.name for read in program.functions]
    if function not in functions:
        listed = ", ".join(f"@{known}" for known in functions) or "none"
        return f"no function @{function}; the program's functions are: {listed}"
    names = [value.name for value in known]
    hint = did_you_mean(name, [*names, *(value.label for value in known if value.label)])
    if not hint and names:
        shown = ", ".join(names[:_MOST_SHOWN]) + (", ..." if len(names) > _MOST_SHOWN else "")
        hint = f"; the values of the propagated program are {shown}"
    return f"no value '{name}' in function @{function}{hint}"


def _several_values(program: Program, name: str, found: Sequence[Value]) -> str:
    lines = [f"'{name}' names {len(found)} values; say which:"]
    for value in found:
        op = "" if value.op is None else f" of {program.ops[value.op].name}"
        at = f" at {value.place}" if str(value.place) else ""
        lines.append(f"  {value.spelling} is {value.type}{op}{at}")
    return "\n".join(lines)


def check_dimension(value: Value, dim: int) -> None:
    """Check that a value has a dimension.

    Raises:
      Error: where it has not.

    """
    check_type(dim, int, "dim", "an int")
    if not 0 <= dim < len(value.shape):
        raise Error(f"{value.spelling} has {len(value.shape)} dimensions, no dimension {dim}")


def parse_axis(program: Program, text: str) -> AxisRef:
    """Return the axis of a mesh of the program, or the part of one, that a text means.

    Raises:
      Error: where no mesh has an axis of that name.

    """
    check_type(text, str, "axis", "a str")
    match = _AXIS.fullmatch(text)
    known = list(dict.fromkeys(name for mesh in program.meshes for name in mesh.axis_names))
    if match is None or match["name"] not in known:
        hint = did_you_mean(text, known) or "; the axes are " + ", ".join(known)
        raise VerifyError(f"no axis '{text}'{hint}")
    if match["pre"] is None:
        return AxisRef(match["name"])
    return AxisRef.sub(match["name"], int(match["pre"]), int(match["size"]))
