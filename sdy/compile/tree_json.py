"""Pytrees as JSON: each container by the name of its class, which is imported again.

JAX's own serialisation has tuples, lists, dicts and None alone. Here any class registered with
JAX can stand, as long as it is found under its name and what the tree keeps of it beside its
children, such as the fields of a dataclass that are no arrays, is text, numbers, or tuples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jax.tree_util import PyTreeDef, default_registry

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["tree_from_json", "tree_to_json"]

_LEAF = "*"


def tree_to_json(tree: Any) -> Any:
    """Return a tree as values that JSON has.

    Raises:
      Error: at a class or value that cannot be written.

    """
    data = tree.node_data()
    if data is None:
        return _LEAF
    kind, aux = data
    return [_name_of(kind), _to_json(aux), [tree_to_json(child) for child in tree.children()]]


def tree_from_json(text: Any) -> Any:
    """Return the tree for what `tree_to_json` returned.

    Raises:
      Error: where a class is not found any more, or is not registered with JAX.

    """
    if text == _LEAF:
        return PyTreeDef.from_node_data_and_children(default_registry, None, [])
    name, aux, children = text
    data = _named(name), _from_json(aux)
    try:
        return PyTreeDef.from_node_data_and_children(
            default_registry, data, list(map(tree_from_json, children))
        )
    except RuntimeError as error:
        raise Error(f"the class {name} is no container of JAX's trees: {error}") from error


def _name_of(kind: type) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    try:
        is_found = _named(name) is kind
    except Error:
        is_found = False
    if not is_found:
        raise Error(f"cannot save the tree: the class {name} cannot be imported by its name")
    return name


def _named(name: str) -> Any:
    if name == "builtins:NoneType":
        return type(None)
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise Error(f"the tree has the class {name}, which is not found: {error}") from error
    return found


def _to_json(value: Any) -> Any:
    """Return data of a node; what JSON does not have stands in a dict with one key."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return list(map(_to_json, value))
    if type(value) is tuple:
        return {"tuple": list(map(_to_json, value))}
    if isinstance(value, type):
        return {"class": _name_of(value)}
    raise Error(
        f"cannot save the tree: it keeps {value!r}; expected text, numbers, classes, or lists "
        "and tuples of them"
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_from_json, value))
    if isinstance(value, dict):
        [(kind, content)] = value.items()
        return _TAGS[kind](content)
    return value


_TAGS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda items: tuple(map(_from_json, items)),
    "class": _named,
}
