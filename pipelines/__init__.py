"""Spark programs that keep views of the log: one room per pipeline, the shell in `common`."""
