"""Passes and pipelines on modules, and what parses and runs them."""
