"""The wall clock, for figures about the present. It never enters a view."""

from infra.clock import get_wall_ms as get_wall_ms
