"""The gate: the promoted proposals of a review become purchase orders, once."""
