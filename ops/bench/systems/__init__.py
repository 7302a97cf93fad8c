"""The systems of docs/systems.md at one job on one log: units sold by shelf, each receipt once."""

from ops.bench.systems.measure import measure

__all__ = ["measure"]
