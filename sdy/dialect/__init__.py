"""What a sharding is: pure values that know neither MLIR nor passes."""
