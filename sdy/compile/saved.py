"""Executables in files.

A file holds one line of magic, one line of JSON that says what the program takes, returns and
needs, and then what XLA's serialisation gave.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import jaxlib
import numpy as np
from jaxlib import xla_client

from sdy.compile.executable import Executable
from sdy.compile.signature import ShardedType, Signature
from sdy.compile.targets import backend_for
from sdy.compile.tree_json import tree_from_json, tree_to_json
from sdy.compile.trees import Trees
from sdy.dialect.errors import Error
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.parser import parse_mesh, parse_sharding

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax

    from sdy.compile.backend import Backend, Compiled

__all__ = ["read_executable", "save"]

_MAGIC = b"sdy executable 2\n"


def save(
    path: str | os.PathLike[str],
    signature: Signature,
    compiled: Compiled,
    backend: Backend,
    trees: Trees | None,
) -> None:
    """Write an executable; see `Executable.save`."""
    try:
        payload = compiled.serialize()
    except RuntimeError as error:
        raise Error(f"XLA cannot save programs for '{backend.target}': {error}") from error
    header = {
        "jaxlib": jaxlib.__version__,
        "platform": backend.client.platform,
        "platform_version": backend.client.platform_version,
        "target": backend.target,
        "is_here": backend.is_here,
        "num_devices": len(backend.devices),
        "arguments": list(map(_type_to_json, signature.arguments)),
        "results": list(map(_type_to_json, signature.results)),
        "trees": trees and _trees_to_json(trees),
        "sha256": hashlib.sha256(payload).hexdigest(),
    }
    try:
        with open(path, "wb") as file:
            file.write(_MAGIC + json.dumps(header).encode() + b"\n" + payload)
    except OSError as error:
        raise Error(f"cannot write '{os.fspath(path)}': {error.strerror}") from error


def read_executable(
    path: str | os.PathLike[str], target: str | Sequence[jax.Device] | None
) -> Executable:
    """Read an executable; see `sdy.compile.compiler.load_executable`."""
    header, payload = _read(os.fspath(path))
    if header["jaxlib"] != jaxlib.__version__:
        raise Error(
            f"'{os.fspath(path)}' was saved by jaxlib {header['jaxlib']}; "
            f"this is jaxlib {jaxlib.__version__}: compile the program again"
        )
    backend = backend_for(header["target"] if target is None else target)
    _check_backend(header, backend, os.fspath(path))
    try:
        loaded = backend.client.deserialize_executable(
            payload, xla_client.DeviceList(backend.devices), None
        )
    except RuntimeError as error:
        raise Error(f"XLA cannot load '{os.fspath(path)}': {error}") from error
    signature = Signature(
        tuple(map(_type_from_json, header["arguments"])),
        tuple(map(_type_from_json, header["results"])),
    )
    trees = header["trees"] and _trees_from_json(header["trees"])
    return Executable(signature, loaded, backend, trees)


def _read(path: str) -> tuple[dict[str, Any], bytes]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}") from error
    if not data.startswith(_MAGIC):
        raise Error(f"'{path}' is no executable that this version of sdy saved")
    text, _, payload = data[len(_MAGIC) :].partition(b"\n")
    try:
        header = json.loads(text)
    except ValueError:
        raise Error(f"'{path}' is damaged") from None
    # XLA trusts what it is given: damaged code may kill the process.
    if header["sha256"] != hashlib.sha256(payload).hexdigest():
        raise Error(f"'{path}' is damaged")
    return header, payload


def _check_backend(header: dict[str, Any], backend: Backend, path: str) -> None:
    if not backend.is_here:
        raise Error(
            f"'{path}' was compiled ahead of time for '{header['target']}': "
            "load it where such devices are, with target=jax.devices()"
        )
    if len(backend.devices) != header["num_devices"]:
        raise Error(
            f"'{path}' was compiled for {header['num_devices']} devices: "
            f"the target has {len(backend.devices)}"
        )
    for key in ("platform", "platform_version"):
        ours = getattr(backend.client, key)
        # Ahead of time a GPU's version is its model, and that of its driver here.
        if header[key] != ours and (key == "platform" or header["is_here"]):
            raise Error(
                f"'{path}' was compiled for {header[key]!r}, and the devices are {ours!r}: "
                "compile the program again"
            )


def _type_to_json(value: ShardedType) -> dict[str, Any]:
    return {
        "shape": value.shape,
        "dtype": value.dtype.name,
        "sharding": str(value.sharding),
        "named": value.named and [str(value.named.bound_mesh), str(value.named)],
    }


def _type_from_json(value: dict[str, Any]) -> ShardedType:
    mesh, named = value["named"] or ("", "")
    return ShardedType(
        tuple(value["shape"]),
        np.dtype(value["dtype"]),
        HloSharding.parse(value["sharding"]),
        parse_sharding(named, parse_mesh(mesh)) if named else None,
    )


def _trees_to_json(trees: Trees) -> dict[str, Any]:
    return {
        "arguments": tree_to_json(trees.arguments),
        "results": tree_to_json(trees.results),
        "kept": trees.kept,
    }


def _trees_from_json(trees: dict[str, Any]) -> Trees:
    return Trees(
        tree_from_json(trees["arguments"]),
        tree_from_json(trees["results"]),
        tuple(trees["kept"]),
    )
