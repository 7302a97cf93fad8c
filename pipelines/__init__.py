"""Spark programs that keep views of the log: one room per pipeline, what all share in `common`."""
