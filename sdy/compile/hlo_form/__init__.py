"""A program in the form that it has in HLO when XLA's own Shardy propagates through it."""
