"""When customers come, and what they take home."""
