"""Where the shardings of an op do not go together, and the reshards that make them."""
