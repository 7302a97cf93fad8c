"""When to order for a shelf, and how much."""
