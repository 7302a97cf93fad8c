"""How contracts change: what was released, what is different now, and who that breaks."""
