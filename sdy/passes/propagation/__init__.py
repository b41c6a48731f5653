"""Propagation: from the shardings of a few tensors to those of all."""
