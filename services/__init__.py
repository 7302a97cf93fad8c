"""What answers questions about the shop, and what acts on the answers."""
