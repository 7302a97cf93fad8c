"""Planned behaviour: frauds, and innocent behaviour that looks like fraud. No module here knows the
thresholds.
"""
