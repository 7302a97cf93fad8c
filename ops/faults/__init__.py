"""Faults on demand in a running shop, each with the promise that the shop has to keep."""
