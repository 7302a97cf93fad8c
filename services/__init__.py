"""Services that answer questions about the shop, and services that act on the answers."""
