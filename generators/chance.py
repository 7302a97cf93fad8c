"""Seeded draws: the only source of randomness in the world."""

from random import Random


def create_random(*purpose: int | str) -> Random:
    """A generator for one purpose, such as the seed, a store, an hour and "demand".

    A text seed goes through SHA-512: the draws are the same on every machine and version of Python,
    as long as only `random()` and `getrandbits()` are used.
    """
    return Random("/".join(str(part) for part in purpose))
