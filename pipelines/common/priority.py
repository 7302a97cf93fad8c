"""Who goes first on a machine that has more to do than it can."""

import os

NICENESS = 10
"""As in nice(1): where all want a core, this process gets a tenth of what another one gets."""


def give_way() -> None:
    """Let what answers (the API, the broker) by, from here on; whatever it starts does so too.

    A core that nobody else wants is computed on as before; who has given way does not do so twice.
    """
    os.nice(max(0, NICENESS - os.nice(0)))
