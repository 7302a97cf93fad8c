"""A drawn sequence of faults: the same seed gives the same faults in the same order."""

from collections.abc import Iterator, Sequence
from random import Random


def draw(seed: int, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Names without end, each with a number that what it draws itself begins from.

    Every name comes once before any comes again, in an order that is drawn anew each time.
    """
    chance = Random(seed)
    while names:
        for name in chance.sample(sorted(names), len(names)):
            yield name, chance.getrandbits(31)
