"""Runs changed code from offset zero: plan, follow, compare, promote, roll back, prune."""
