"""The command lines: `sdy-opt` and the demonstration."""
