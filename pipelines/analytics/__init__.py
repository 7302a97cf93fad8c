"""What was sold, by store, product and time."""
