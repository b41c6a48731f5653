"""The pytrees that a function lowered by JAX takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["Trees", "read_trees"]


@dataclass(frozen=True, slots=True)
class Trees:
    """How a function's arguments and results are made of the arrays of a program.

    Attributes:
      arguments: the tree of `(args, kwargs)`.
      results: the tree of what the function returns.
      kept: of the leaves of `arguments`, those that the program takes; JAX drops the others.

    """

    arguments: Any
    results: Any
    kept: tuple[int, ...]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return the arrays that the program takes.

        Raises:
          Error: if the arguments form another tree.

        """
        leaves, tree = jax.tree.flatten((tuple(args), dict(kwargs)))
        if tree != self.arguments:
            raise Error(f"the arguments form the tree {tree}, expected {self.arguments}")
        return [leaves[i] for i in self.kept]

    def unflatten(self, results: Sequence[jax.Array]) -> Any:
        """Return the results as the function returns them."""
        return jax.tree.unflatten(self.results, results)


def read_trees(program: object, num_arguments: int) -> Trees | None:
    """Return the trees of a `jax.stages.Lowered`; None for any other program.

    Args:
      program: what was compiled.
      num_arguments: how many the program takes.

    Raises:
      Error: if JAX dropped arguments and does not say which.

    """
    if not isinstance(program, jax.stages.Lowered):
        return None
    count = program.in_tree.num_leaves
    if count == num_arguments:
        return Trees(program.in_tree, program.out_tree, tuple(range(count)))
    # Which arguments are used stands in no public attribute of JAX.
    details = getattr(getattr(program, "_lowering", None), "compile_args", {})
    kept = tuple(sorted(details.get("kept_var_idx", ())))
    if len(kept) != num_arguments:
        raise Error(
            f"the program takes {num_arguments} of the function's {count} arguments, and JAX does "
            "not say which: lower with jax.jit(..., keep_unused=True)"
        )
    return Trees(program.in_tree, program.out_tree, kept)
