"""The dialect in MLIR modules: shardings read and written, and how values depend on others."""
