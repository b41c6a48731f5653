"""From a propagated module to an executable: targets, compilation, arrays in and out."""
