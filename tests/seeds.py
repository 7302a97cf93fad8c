"""Seeds that are drawn for every run and printed, so that a failure can be repeated."""

import os
import secrets
from random import Random

VARIABLE = "TEST_SEED"


def create_random(what: str) -> Random:
    """A generator seeded from TEST_SEED, or else by chance; pytest shows the seed of a failure."""
    seed = int(os.environ.get(VARIABLE) or secrets.randbelow(2**32))
    print(f"{what}: {VARIABLE}={seed}")
    return Random(seed)
