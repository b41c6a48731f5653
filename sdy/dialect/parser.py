"""The way in for text: each function reads one kind of value, in either spelling, and verifies it.

The spellings are the notation of Shardy's documents, as `str` of a value gives it, and that of
MLIR (`#sdy...`), as `printer.to_mlir` gives it. All functions raise ParseError where the text is
not what it should be, and VerifyError where it breaks an invariant of the dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sdy.dialect import verifier
from sdy.dialect.einsum_rule import EinsumRule
from sdy.dialect.errors import ParseError, VerifyError, check_type
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import TensorShardingPerValue

if TYPE_CHECKING:
    from sdy.dialect.sharding import ManualAxes, TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.dialect.syntax import Start

__all__ = [
    "parse_einsum_rule",
    "parse_manual_axes",
    "parse_mesh",
    "parse_rule",
    "parse_sharding",
    "parse_sharding_per_value",
]

Meshes = Mesh | Mapping[str, Mesh]


def parse_mesh(text: str | bytes) -> Mesh:
    """Return the mesh that `text` spells, such as `@mesh = <["x"=2, "y"=4]>`.

    The name may be left out, and so may the brackets: `<"devices"=8>`.
    """
    mesh: Mesh = _read(text, "mesh_text")
    mesh.verify()
    return mesh


def parse_sharding(text: str | bytes, mesh: Meshes | None = None) -> TensorSharding:
    """Return the sharding that `text` spells, such as `sharding<@mesh, [{"x"}, {?}]>`.

    Args:
      text: the sharding; a type behind it, `: tensor<4x8xf32>`, is what the rank is checked
        against. Meshes that the sharding names may be defined in front of it.
      mesh: the mesh on which the sharding is, or several by name. A mesh that has no name
        answers to any. Without it, a name that is not defined in `text` stays a name.

    """
    _check_meshes(mesh)
    parsed = _read(text, "sharding_text")
    for defined in parsed.meshes.values():
        defined.verify()
    sharding = _bound(parsed.sharding, parsed.meshes, mesh)
    _verify(sharding, parsed.shape)
    return sharding


def parse_sharding_per_value(
    text: str | bytes, mesh: Meshes | None = None
) -> TensorShardingPerValue:
    """Return the list that `text` spells: `sharding_per_value<[<@mesh, [{"x"}]>, ...]>`.

    Meshes are found as `parse_sharding` finds them.
    """
    _check_meshes(mesh)
    parsed = _read(text, "per_value_text")
    for defined in parsed.meshes.values():
        defined.verify()
    count = len(parsed.per_value.shardings)
    shardings: list[TensorSharding] = []
    for index, each in enumerate(parsed.per_value.shardings):
        with verifier.at_value(index, count) if count > 1 else nullcontext():
            sharding = _bound(each, parsed.meshes, mesh)
            _verify(sharding, None)
            shardings.append(sharding)
    return TensorShardingPerValue(tuple(shardings))


def parse_manual_axes(text: str | bytes) -> ManualAxes:
    """Return the axes that `text` spells: `manual_axes{"x", "y"}`."""
    manual: ManualAxes = _read(text, "manual_axes_text")
    return manual


def parse_rule(text: str | bytes) -> OpShardingRule:
    """Return the rule that `text` spells: `([i, k], [k, j])->([i, j]) {i=4, j=8, k=2}`."""
    rule: OpShardingRule = _read(text, "rule_text")
    rule.verify()
    return rule


def parse_einsum_rule(
    text: str,
    *,
    reduction: Sequence[str] = (),
    need_replication: Sequence[str] = (),
    permutation: Sequence[str] = (),
    blocked_propagation: Sequence[str] = (),
    **factor_sizes: int,
) -> EinsumRule:
    """Return the rule, for tensors of any size, that `text` spells: `i j, j k -> i k`.

    Args:
      text: in the notation of JAX's `custom_partitioning`.
      reduction: the names of the factors that must be summed over when they are split.
      need_replication: of those that may not be split when the op runs.
      permutation: of those that exchange data with their neighbours when they are split.
      blocked_propagation: of those along which shardings do not spread.
      factor_sizes: the sizes of factors that never are a whole dimension, as in
        `(h d) -> (d h)`, or that are dimensions of several sizes, of which it is the least.

    """
    from sdy.dialect.einsum_parser import read_einsum_rule

    sets = {
        "reduction": reduction,
        "need_replication": need_replication,
        "permutation": permutation,
        "blocked_propagation": blocked_propagation,
    }
    for name, factors in sets.items():
        if isinstance(factors, str):
            raise VerifyError(f"{name}: expected a tuple of factors, got '{factors}'")
        check_type(factors, Iterable, name, "a tuple of factors")
        if f"{name}_factors" in factor_sizes:
            raise VerifyError(f"there is no option {name}_factors, did you mean {name}?")
    check_type(text, str, "text", "a str")
    operands, results = read_einsum_rule(text)
    rule = EinsumRule(
        operands,
        results,
        tuple(reduction),
        tuple(need_replication),
        tuple(permutation),
        tuple(blocked_propagation),
        tuple(factor_sizes.items()),
    )
    rule.verify()
    return rule


def _read(text: str | bytes, start: Start) -> Any:
    # Imported here because lark takes longer to import than most programs spend on text.
    from sdy.dialect import syntax

    return syntax.read(_decoded(text), start)


def _decoded(text: str | bytes) -> str:
    """Return `text` with bytes that are not UTF-8 as surrogates, and no others in it."""
    check_type(text, (str, bytes), "text", "a str or bytes")
    if isinstance(text, bytes):
        return text.decode("utf-8", "surrogateescape")
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ParseError.at(text, error.start, "not a character: half of a surrogate") from None
    return text


def _check_meshes(meshes: Meshes | None) -> None:
    """Check the types of the meshes that a caller gives."""
    expected = "a Mesh or a mapping of names to meshes"
    check_type(meshes, (Mesh, Mapping, type(None)), "mesh", expected)
    if isinstance(meshes, Mapping):
        for mesh in meshes.values():
            check_type(mesh, Mesh, "mesh", expected)


def _bound(
    sharding: TensorSharding, defined: Mapping[str, Mesh], given: Meshes | None
) -> TensorSharding:
    """Return `sharding` with its mesh in place of the mesh's name, if there is anything to ask."""
    name = sharding.mesh
    if isinstance(name, Mesh):
        return sharding
    mesh = defined.get(name) or _lookup(name, given)
    if mesh is None and given is not None:
        raise verifier.unknown_mesh(name)
    return sharding if mesh is None else replace(sharding, mesh=mesh)


def _lookup(name: str, meshes: Meshes | None) -> Mesh | None:
    if isinstance(meshes, Mesh):
        return meshes.renamed(name) if meshes.name in (None, name) else None
    mesh = None if meshes is None else meshes.get(name)
    return None if mesh is None else mesh.renamed(name)


def _verify(sharding: TensorSharding, shape: verifier.Shape | None) -> None:
    if not isinstance(sharding.mesh, Mesh):
        verifier.verify_unbound_sharding(sharding, shape)
        return
    sharding.verify(shape=shape)
