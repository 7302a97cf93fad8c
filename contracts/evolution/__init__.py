"""How contracts change: what was released, what differs now, and whom that breaks."""
