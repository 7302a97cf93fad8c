"""The lake: every public topic as Delta tables: raw, typed, and summed by day."""
