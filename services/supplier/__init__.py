"""The supplier: obeys purchase orders, each once, not always in time and not always in full."""
