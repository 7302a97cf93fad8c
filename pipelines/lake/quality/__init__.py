"""Expectations of the lake's tables, each at a pinned version, away from the hot path."""
