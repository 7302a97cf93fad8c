"""When to order for a shelf, and up to what."""
