"""A standalone sharding dialect and propagation compiler, on the MLIR that jaxlib carries.

The public names. `compile`, `explain`, `jit` and `load_executable` are bound at once; each other
one is imported when it is first asked for, so that the command lines start before MLIR is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Not when they are first asked for: once the packages `sdy.compile` and `sdy.explain` are imported,
# their names would stand for the packages.
from sdy.compile.compiler import compile, jit, load_executable  # noqa: A004
from sdy.explain.explain import explain

if TYPE_CHECKING:
    from sdy import jax as jax
    from sdy.compile.executable import Executable
    from sdy.compile.marking import clear_sharding, mark_sharding
    from sdy.compile.op_sharding import from_op_sharding, to_op_sharding
    from sdy.dialect.axes import AxisRef, SubAxis
    from sdy.dialect.einsum_rule import EinsumRule
    from sdy.dialect.errors import Error, ParseError, VerifyError
    from sdy.dialect.hlo_sharding import HloSharding
    from sdy.dialect.mesh import Mesh, MeshAxis
    from sdy.dialect.mesh_finding import find_meshes
    from sdy.dialect.parser import (
        parse_einsum_rule,
        parse_manual_axes,
        parse_mesh,
        parse_rule,
        parse_sharding,
        parse_sharding_per_value,
    )
    from sdy.dialect.printer import to_mlir
    from sdy.dialect.sharding import (
        DimensionSharding,
        ManualAxes,
        TensorSharding,
        TensorShardingPerValue,
    )
    from sdy.dialect.sharding_rule import DimMapping, FactorType, OpShardingRule, TensorMapping
    from sdy.explain.explanation import Explanation
    from sdy.ir.counters import counters
    from sdy.ir.diagnostics import Diagnostic, DiagnosticError, ShardingWarning
    from sdy.ir.load import load
    from sdy.ir.set_sharding import set_sharding
    from sdy.ir.shardings import ValueSharding, shardings
    from sdy.ir.values import FunctionResult, find_value
    from sdy.passes.export_pipeline.reshard_plan import ReshardPlan, plan_reshard
    from sdy.passes.gspmd.from_gspmd import from_gspmd
    from sdy.passes.gspmd.to_gspmd import to_gspmd
    from sdy.passes.pipeline import run_pipeline
    from sdy.passes.propagate import propagate
    from sdy.passes.propagation.rules.register import register_rule, unregister_rule
    from sdy.passes.propagation.rules.user_rules import rule_scope

__version__ = "0.1.0"

__all__ = [
    "AxisRef",
    "Diagnostic",
    "DiagnosticError",
    "DimMapping",
    "DimensionSharding",
    "EinsumRule",
    "Error",
    "Executable",
    "Explanation",
    "FactorType",
    "FunctionResult",
    "HloSharding",
    "ManualAxes",
    "Mesh",
    "MeshAxis",
    "OpShardingRule",
    "ParseError",
    "ReshardPlan",
    "ShardingWarning",
    "SubAxis",
    "TensorMapping",
    "TensorSharding",
    "TensorShardingPerValue",
    "ValueSharding",
    "VerifyError",
    "clear_sharding",
    "compile",
    "counters",
    "explain",
    "find_meshes",
    "find_value",
    "from_gspmd",
    "from_op_sharding",
    "jit",
    "load",
    "load_executable",
    "mark_sharding",
    "parse_einsum_rule",
    "parse_manual_axes",
    "parse_mesh",
    "parse_rule",
    "parse_sharding",
    "parse_sharding_per_value",
    "plan_reshard",
    "propagate",
    "register_rule",
    "rule_scope",
    "run_pipeline",
    "set_sharding",
    "shardings",
    "to_gspmd",
    "to_mlir",
    "to_op_sharding",
    "unregister_rule",
]

_NAMES_BY_MODULE = {
    "sdy.compile.executable": ("Executable",),
    "sdy.compile.marking": (
        "clear_sharding",
        "mark_sharding",
    ),
    "sdy.compile.op_sharding": (
        "from_op_sharding",
        "to_op_sharding",
    ),
    "sdy.dialect.axes": (
        "AxisRef",
        "SubAxis",
    ),
    "sdy.dialect.einsum_rule": ("EinsumRule",),
    "sdy.dialect.errors": (
        "Error",
        "ParseError",
        "VerifyError",
    ),
    "sdy.dialect.hlo_sharding": ("HloSharding",),
    "sdy.dialect.mesh": (
        "Mesh",
        "MeshAxis",
    ),
    "sdy.dialect.mesh_finding": ("find_meshes",),
    "sdy.dialect.parser": (
        "parse_einsum_rule",
        "parse_manual_axes",
        "parse_mesh",
        "parse_rule",
        "parse_sharding",
        "parse_sharding_per_value",
    ),
    "sdy.dialect.printer": ("to_mlir",),
    "sdy.dialect.sharding": (
        "DimensionSharding",
        "ManualAxes",
        "TensorSharding",
        "TensorShardingPerValue",
    ),
    "sdy.dialect.sharding_rule": (
        "DimMapping",
        "FactorType",
        "OpShardingRule",
        "TensorMapping",
    ),
    "sdy.explain.explanation": ("Explanation",),
    "sdy.ir.counters": ("counters",),
    "sdy.ir.diagnostics": (
        "Diagnostic",
        "DiagnosticError",
        "ShardingWarning",
    ),
    "sdy.ir.load": ("load",),
    "sdy.ir.set_sharding": ("set_sharding",),
    "sdy.ir.shardings": (
        "ValueSharding",
        "shardings",
    ),
    "sdy.ir.values": (
        "FunctionResult",
        "find_value",
    ),
    "sdy.passes.export_pipeline.reshard_plan": ("ReshardPlan", "plan_reshard"),
    "sdy.passes.gspmd.from_gspmd": ("from_gspmd",),
    "sdy.passes.gspmd.to_gspmd": ("to_gspmd",),
    "sdy.passes.pipeline": ("run_pipeline",),
    "sdy.passes.propagate": ("propagate",),
    "sdy.passes.propagation.rules.register": (
        "register_rule",
        "unregister_rule",
    ),
    "sdy.passes.propagation.rules.user_rules": ("rule_scope",),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "jax":
        return import_module("sdy.jax")
    if name not in _MODULES:
        raise AttributeError(f"module 'sdy' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
