"""Spark programs that maintain views of the log: one room per pipeline; what all share is in
`common`.
"""
