"""Shardings as the `mhlo.sharding` attributes of XLA's SPMD partitioner, and back."""
