"""Canonicalization: patterns for sdy ops, driven together with MLIR's own."""
