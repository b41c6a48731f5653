"""What XLA's SPMD partitioner (GSPMD) adds to a program, foretold without XLA."""
