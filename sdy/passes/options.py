"""Pass options: the fields of a pass read from text, printed and described."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

from sdy.dialect.errors import Error
from sdy.passes.pipeline_text import parse_options

if TYPE_CHECKING:
    from sdy.passes.base import Pass

__all__ = ["format_options", "make_pass", "option_flag", "value_text"]

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def option_flag(field: Field[Any]) -> str:
    """Return the name of an option in a pipeline: the field's with dashes."""
    return field.name.replace("_", "-")


def make_pass(cls: type[Pass], text: str) -> Pass:
    """Return the pass with the options in `text`; `sdy.Error` where one is unknown or wrong."""
    by_flag = {option_flag(field): field for field in fields(cls)}
    values: dict[str, bool | int | str] = {}
    for option in parse_options(text):
        field = by_flag.get(option.key)
        if field is None:
            raise Error(_unknown_option(cls, option.key, list(by_flag)))
        values[field.name] = _read(cls, field, option.value)
    return cls(**values)


def _unknown_option(cls: type[Pass], key: str, known: list[str]) -> str:
    from sdy.dialect.suggestion import did_you_mean

    if not known:
        return f"pass '{cls.name}' has no options, got '{key}'"
    hint = did_you_mean(key, known) or "; its options are " + ", ".join(known)
    return f"pass '{cls.name}' has no option '{key}'{hint}"


def _read(cls: type[Pass], field: Field[Any], value: str | None) -> bool | int | str:
    """Return `value` as the type of the field's default; a bare boolean is true."""
    default = field.default
    if isinstance(default, bool):
        known = True if value is None else _BOOLEANS.get(value.lower())
        if known is None:
            raise _bad_value(cls, field, value, "true or false")
        return known
    if value is None:
        raise _bad_value(cls, field, value, "a value")
    if isinstance(default, int):
        try:
            return int(value)
        except ValueError:
            raise _bad_value(cls, field, value, "an integer") from None
    return value


def _bad_value(cls: type[Pass], field: Field[Any], value: str | None, expected: str) -> Error:
    found = "none" if value is None else f"'{value}'"
    return Error(
        f"option '{option_flag(field)}' of pass '{cls.name}': expected {expected}, got {found}"
    )


def value_text(value: object) -> str:
    """Return an option's value as a pipeline spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return "{" + text + "}" if any(char in text for char in " \t\n{}'\",") else text


def format_options(pass_: Pass) -> str:
    """Return all options of a pass, defaults too, as `{key=value ...}`; '' where it has none.

    Those that Shardy's pass does not have are left out where they are not set.
    """
    values = ((f, getattr(pass_, f.name)) for f in fields(pass_))
    text = " ".join(
        f"{option_flag(f)}={value_text(value)}"
        for f, value in values
        if f.metadata["in_shardy"] or value != f.default
    )
    return "{" + text + "}" if text else ""
