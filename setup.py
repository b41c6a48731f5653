"""Compiles the modules in which propagation spends its time, where a wheel is built.

They are plain Python, and run as such where they are not compiled: in an editable install,
without a C compiler, or with `SDY_COMPILE=0` in the environment. mypyc, which comes with mypy,
makes C of their types.
"""

from __future__ import annotations

import os
import sys
from shutil import which
from sysconfig import get_config_var

from setuptools import setup

COMPILED = [
    "sdy/dialect/axes.py",
    "sdy/dialect/dimension_sharding.py",
    "sdy/dialect/immutable.py",
    "sdy/dialect/names.py",
    "sdy/dialect/sharding.py",
    "sdy/dialect/sharding_rule.py",
    "sdy/ir/attribute_numbers.py",
    "sdy/ir/attributes.py",
    "sdy/ir/bytecode_format.py",
    "sdy/ir/call_graph.py",
    "sdy/ir/constants.py",
    "sdy/ir/data_flow_edges.py",
    "sdy/ir/distinct_ops.py",
    "sdy/ir/edited_structure.py",
    "sdy/ir/function_clones.py",
    "sdy/ir/function_shardings.py",
    "sdy/ir/growing_structure.py",
    "sdy/ir/indexed_module.py",
    "sdy/ir/module_ops.py",
    "sdy/ir/named_computations.py",
    "sdy/ir/op_attributes.py",
    "sdy/ir/op_index.py",
    "sdy/ir/op_order.py",
    "sdy/ir/replacement.py",
    "sdy/ir/rows.py",
    "sdy/ir/sharding_walk.py",
    "sdy/ir/signature_attributes.py",
    "sdy/ir/structure.py",
    "sdy/ir/structure_edit.py",
    "sdy/ir/symbol_references.py",
    "sdy/ir/symbols.py",
    "sdy/ir/types.py",
    "sdy/ir/use_lists.py",
    "sdy/ir/value_attributes.py",
    "sdy/ir/values.py",
    "sdy/passes/export_pipeline/computation_exporter.py",
    "sdy/passes/export_pipeline/equal_constants.py",
    "sdy/passes/export_pipeline/even_shardings.py",
    "sdy/passes/export_pipeline/explicit_reshards/dot.py",
    "sdy/passes/export_pipeline/explicit_reshards/inserter.py",
    "sdy/passes/export_pipeline/explicit_reshards/op_mesh.py",
    "sdy/passes/export_pipeline/explicit_reshards/op_plan.py",
    "sdy/passes/export_pipeline/explicit_reshards/op_rules.py",
    "sdy/passes/export_pipeline/explicit_reshards/unchanged_ops.py",
    "sdy/passes/export_pipeline/explicit_reshards/value_types.py",
    "sdy/passes/import_pipeline/call_importer.py",
    "sdy/passes/import_pipeline/constant_expressions.py",
    "sdy/passes/import_pipeline/constant_functions.py",
    "sdy/passes/import_pipeline/imported_structure.py",
    "sdy/passes/propagation/compatible_axes.py",
    "sdy/passes/propagation/data_flow.py",
    "sdy/passes/propagation/dead_ops.py",
    "sdy/passes/propagation/engine.py",
    "sdy/passes/propagation/graph.py",
    "sdy/passes/propagation/interner.py",
    "sdy/passes/propagation/op_classes.py",
    "sdy/passes/propagation/op_priorities.py",
    "sdy/passes/propagation/projection.py",
    "sdy/passes/propagation/rule_attributes.py",
    "sdy/passes/propagation/rules/builder.py",
    "sdy/passes/propagation/rules/contraction.py",
    "sdy/passes/propagation/rules/elementwise.py",
    "sdy/passes/propagation/rules/gather_scatter.py",
    "sdy/passes/propagation/rules/layout.py",
    "sdy/passes/propagation/rules/reading.py",
    "sdy/passes/propagation/rules/reduction.py",
    "sdy/passes/propagation/rules/reshape.py",
    "sdy/passes/propagation/rules/slicing.py",
    "sdy/passes/propagation/sequences.py",
    "sdy/passes/propagation/slots.py",
    "sdy/passes/propagation/step.py",
    "sdy/passes/propagation/step_case.py",
    "sdy/passes/propagation/steps.py",
    "sdy/passes/propagation/strategies.py",
    "sdy/passes/propagation/tensors.py",
    "sdy/passes/propagation/visits.py",
]


def extensions() -> list[object]:
    """Return the extension modules to build, none where they cannot be built."""
    compiler = (get_config_var("CC") or "cc").split()[0]
    if "bdist_wheel" not in sys.argv or os.environ.get("SDY_COMPILE") == "0" or not which(compiler):
        return []
    from mypyc.build import mypycify

    flags = ["--config-file=pyproject.toml", "--ignore-missing-imports", "--follow-imports=silent"]
    return list(mypycify([*flags, *COMPILED], opt_level="3"))


setup(ext_modules=extensions())
