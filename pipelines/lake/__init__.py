"""The lake: every public topic as Delta tables, raw, typed, and added up by day."""
