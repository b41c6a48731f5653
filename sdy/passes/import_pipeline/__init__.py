"""What prepares a module for propagation."""
