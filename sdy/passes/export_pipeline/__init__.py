"""What turns the shardings that propagation has found into what XLA expects."""
