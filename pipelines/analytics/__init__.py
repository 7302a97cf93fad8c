"""Sales by store, product and time."""
