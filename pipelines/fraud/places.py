"""The distance between two stores."""

from functools import lru_cache
from math import asin, cos, floor, radians, sin, sqrt

EARTH_METRES = 6_371_000

Place = tuple[int, int]
"""Latitude and longitude, in microdegrees."""


@lru_cache(maxsize=1024)
def measure_metres(a: Place, b: Place) -> int:
    """The great-circle distance on a sphere, in metres, by the haversine formula."""
    (lat_a, lon_a), (lat_b, lon_b) = (
        (radians(latitude / 1e6), radians(longitude / 1e6)) for latitude, longitude in (a, b)
    )
    haversine = (
        sin((lat_b - lat_a) / 2) ** 2 + cos(lat_a) * cos(lat_b) * sin((lon_b - lon_a) / 2) ** 2
    )
    return floor(2 * EARTH_METRES * asin(sqrt(haversine)))
