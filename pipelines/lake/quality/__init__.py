"""What is expected of the lake's tables, at a pinned version of each, away from the hot path."""
