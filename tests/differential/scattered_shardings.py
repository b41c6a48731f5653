"""Programs in which many values are sharded at random, whatever their neighbours are."""

from __future__ import annotations

from random import Random

from jaxlib.mlir import ir

from sdy.dialect.axes import AxisRef
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.ir.context import make_context
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import manual_axes, set_function_sharding, set_sharding_of
from sdy.ir.types import is_static_shaped, rank
from sdy.ir.values import signature

__all__ = ["scatter_shardings"]


def scatter_shardings(program: str, random: Random, *, reverses_devices: bool = False) -> str:
    """Return the program with a random sharding on half of its values, in place of others.

    Manual computations keep theirs, and in them no value is sharded along their manual axes.
    With `reverses_devices` some are on a mesh of the same axes and another order of devices.
    """
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        (mesh,) = IndexedModule(module).meshes.values()
        meshes = [mesh]
        if reverses_devices:
            meshes = [mesh, mesh, Mesh(mesh.axes, range(mesh.size - 1, -1, -1), "reversed")]
            added = ir.Module.parse(f"sdy.mesh {meshes[-1]}").body.operations[0]
            added.operation.clone(ip=ir.InsertionPoint.at_block_begin(module.body))
        _scatter(IndexedModule(module), meshes, random)
        module.operation.verify()
        return str(module)


def _scatter(module: IndexedModule, meshes: list[Mesh], random: Random) -> None:
    values = [
        (result, _manual_axes_around(op))
        for _, op in module.in_order
        if op.name != MANUAL_COMPUTATION
        for result in op.results
    ]
    for function in module.ops(FUNCTION):
        values += [(argument, frozenset()) for argument in function.regions[0].blocks[0].arguments]
        for index, type_ in enumerate(signature(function).results):
            if random.random() < 0.5:
                sharding = _sharding(rank(type_), meshes, frozenset(), random)
                attribute = module.codec.attribute(sharding)
                set_function_sharding(function, "res_attrs", index, attribute)
    for value, manual in values:
        if is_static_shaped(value.type) and random.random() < 0.5:
            sharding = _sharding(rank(value.type), meshes, manual, random)
            set_sharding_of(value, sharding, module.codec)


def _manual_axes_around(op: ir.Operation) -> frozenset[str]:
    """Return the manual axes of all manual computations that an op is in."""
    axes: frozenset[str] = frozenset()
    parent = op.parent
    while parent is not None:
        outer = parent.operation
        if outer.name == MANUAL_COMPUTATION:
            axes |= manual_axes(outer)
        parent = outer.parent
    return axes


def _sharding(
    rank: int, meshes: list[Mesh], manual: frozenset[str], random: Random
) -> TensorSharding:
    """Return a sharding of random axes of one of the meshes, none of them manual."""
    mesh = random.choice(meshes)
    free = [
        part
        for axis in mesh.axes
        if axis.name not in manual
        for part in _parts(axis.name, axis.size, random)
    ]
    random.shuffle(free)
    dimensions = []
    for _ in range(rank):
        axes = tuple(free.pop() for _ in range(random.choice((0, 0, 1, 1, 2))) if free)
        dimensions.append(DimensionSharding(axes, random.random() < 0.5))
    return TensorSharding(mesh, tuple(dimensions)).canonical()


def _parts(name: str, size: int, random: Random) -> list[AxisRef]:
    """Return an axis, or the two parts of a split of it."""
    if size % 4 == 0 and random.random() < 0.3:
        return [AxisRef.sub(name, 1, 2), AxisRef.sub(name, 2, size // 2)]
    return [AxisRef(name)]
