"""A drawn sequence of faults: the same seed gives the same faults in the same order."""

from collections.abc import Iterator, Sequence
from random import Random


def draw(seed: int, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Names without end, each with the seed of its own draws.

    Every name comes once before any comes again; the order is drawn anew each round.
    """
    chance = Random(seed)
    while names:
        for name in chance.sample(sorted(names), len(names)):
            yield name, chance.getrandbits(31)
