"""Functions of JAX, compiled when they are first called, with our propagation in the middle."""

from __future__ import annotations

import inspect
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from sdy.compile.build import build
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from sdy.compile.executable import Executable

__all__ = ["JittedFunction"]

_MOST_EXECUTABLES = 128


class JittedFunction:
    """What `sdy.jit` returns: call it as the function."""

    def __init__(
        self,
        function: Callable[..., Any],
        target: str | Sequence[jax.Device] | None,
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        **shardings: Any,
    ) -> None:
        self._target = target
        self._shardings = shardings
        self._static = _StaticArguments(function, static_argnums, static_argnames)
        # Each argument of the function is one of the program: trees then need no details of JAX.
        self._jitted = jax.jit(
            function,
            # JAX infers the names from the numbers, and back, only where one is None.
            static_argnums=tuple(static_argnums) or None,
            static_argnames=tuple(static_argnames) or None,
            keep_unused=True,
            **shardings,
        )
        self._executables: dict[Hashable, Executable] = {}
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; compile it first where no call had arguments of these types.

        Raises:
          Error: as `sdy.compile`, and as the executable's call; and where JAX is tracing another
            function, of whose program this cannot be a part.

        """
        executable = self.compile(*args, **kwargs)
        args, kwargs, _ = self._static.split(args, kwargs)
        args, kwargs = jax.tree.map(_as_traced, (args, kwargs))
        return executable(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> Executable:
        """Return the executable for arguments of these types.

        It is compiled once, and kept with those for other types as long as it is among the
        128 used last.

        Args:
          *args: arrays, or `jax.ShapeDtypeStruct`s that stand for them.
          **kwargs: as for the function.

        """
        key = self._key(args, kwargs)
        # Taken out and put back, so that the one used least recently stands first.
        executable = self._executables.pop(key, None) or self._compile(args, kwargs)
        self._executables[key] = executable
        if len(self._executables) > _MOST_EXECUTABLES:
            del self._executables[next(iter(self._executables))]
        return executable

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Executable:
        target = self._target
        if target is None:
            target = _devices(jax.tree.leaves((self._shardings, args, kwargs)))
        platform = backend_for(target).client.platform
        # JAX lowers for a kind of GPU; only its devices are called `gpu`.
        platforms = ("cuda" if platform == "gpu" else platform,)
        lowered = self._jitted.trace(*args, **kwargs).lower(lowering_platforms=platforms)
        return build(lowered, target, complete=True)

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
        args, kwargs, static = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten((args, kwargs))
        return tree, tuple(map(_leaf_key, leaves)), static, jax.config.jax_enable_x64


class _StaticArguments:
    """The arguments that are no arrays but part of the program.

    As for `jax.jit`, the names follow from the numbers, or the numbers from the names, where only
    one of the two is given.
    """

    def __init__(
        self, function: Callable[..., Any], numbers: Sequence[int], names: Sequence[str]
    ) -> None:
        positional = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        count = len(positional)
        self._names = set(names)
        self._numbers = {i + count if i < 0 else i for i in numbers}
        if not names:
            self._names = {positional[i] for i in self._numbers if i < count}
        elif not numbers:
            self._numbers = {i for i, name in enumerate(positional) if name in self._names}

    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], Hashable]:
        """Return the arguments without the static ones, and those."""
        if not self._names and not self._numbers:
            return args, kwargs, ()
        static = [(i, args[i]) for i in sorted(self._numbers) if i < len(args)]
        named = [(name, kwargs[name]) for name in sorted(self._names) if name in kwargs]
        return (
            tuple(arg for i, arg in enumerate(args) if i not in self._numbers),
            {name: arg for name, arg in kwargs.items() if name not in self._names},
            (tuple(static), tuple(named)),
        )


def _as_traced(leaf: Any) -> Any:
    """Return a numpy array with the element type that JAX gave it: without x64, 32 bits."""
    if isinstance(leaf, np.ndarray | np.generic):
        return np.asarray(leaf, jax.dtypes.canonicalize_dtype(leaf.dtype))
    return leaf


def _leaf_key(leaf: Any) -> Hashable:
    """Return what JAX's lowering depends on: type, and where the array lies if that is fixed."""
    if isinstance(leaf, jax.core.Tracer):
        raise Error("a function of sdy.jit cannot be called where JAX traces another function")
    committed = getattr(leaf, "committed", isinstance(leaf, jax.ShapeDtypeStruct))
    return jax.typeof(leaf), getattr(leaf, "sharding", None) if committed else None


def _devices(leaves: Iterable[Any]) -> tuple[jax.Device, ...]:
    """Return the devices of the first mesh among shardings and arrays, or JAX's first device.

    Raises:
      Error: where only abstract meshes are found.

    """
    shardings = [getattr(leaf, "sharding", leaf) for leaf in leaves]
    meshes = [s.mesh for s in shardings if isinstance(s, NamedSharding)]
    for mesh in meshes:
        if isinstance(mesh, Mesh):
            return tuple(mesh.devices.flat)
    if meshes:
        raise Error(f"the mesh {meshes[0]} has no devices: give a target, such as 'cpu:8'")
    return (jax.devices()[0],)
