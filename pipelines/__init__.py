"""Spark programs that maintain views of the log: one room per pipeline; `common` holds the shared
code.
"""
