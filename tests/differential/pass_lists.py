"""Lists of passes that several tests and the benchmarks run.

They are parts of Shardy's import and export pipelines, written out, so that the reference runs
them one by one, too.
"""

from __future__ import annotations

__all__ = [
    "EXPORT",
    "EXPORT_OF_CALLS",
    "IMPORT",
    "IMPORT_OF_CALLS",
    "IMPORT_WITH_CALLS",
    "PROPAGATION_WITH_RULES",
]

IMPORT = (
    "sdy-lift-inlined-meshes",
    "sdy-remove-size-one-axes",
    "sdy-constant-or-scalar-splitter",
    "sdy-add-data-flow-edges",
    "sdy-apply-sharding-constraints",
)
"""For programs of one function without sharding groups."""

IMPORT_WITH_CALLS = (
    "symbol-dce",
    "sdy-lift-inlined-meshes",
    "sdy-remove-size-one-axes",
    "sdy-propagate-sharding-from-func-to-call",
    "sdy-constant-or-scalar-splitter",
    "symbol-dce",
    "sdy-manual-axes-cleanup",
    "sdy-add-data-flow-edges",
    "sdy-flatten-call-graph",
    "symbol-dce",
    "sdy-import-func-calls",
    "symbol-dce",
    "sdy-apply-sharding-constraints",
    "sdy-sharding-group-import",
    "sdy-pre-order-funcs",
)

IMPORT_OF_CALLS = (
    "sdy-import-pipeline",
    "sdy-flatten-call-graph",
    "symbol-dce",
    "sdy-import-func-calls",
    "symbol-dce",
    "sdy-apply-sharding-constraints",
    "sdy-sharding-group-import",
    "sdy-pre-order-funcs",
)
"""The same with `sdy-import-pipeline` as one pass; after it a call is a named computation."""

PROPAGATION_WITH_RULES = "sdy-user-priority-propagate{keep-sharding-rules=true}"

EXPORT = (
    "func.func(sdy-constant-or-scalar-merger)",
    "func.func(sdy-sink-data-flow-edges)",
    "func.func(sdy-sharding-constraint-to-reshard)",
    "sdy-close-shardings",
    "func.func(sdy-drop-sharding-rules)",
)

EXPORT_OF_CALLS = (
    "sdy-export-named-computations",
    "sdy-propagate-to-func-results",
    "sdy-unflatten-call-graph",
    "symbol-dce",
    "sdy-insert-func-call-reshards",
)
"""From named computations back to calls, right after propagation."""
