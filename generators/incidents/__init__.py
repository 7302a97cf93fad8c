"""Planned behaviour: frauds, and innocent behaviour that looks like fraud. No thresholds are known
here.
"""
