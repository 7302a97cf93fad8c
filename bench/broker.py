"""A broker of the bench's own, where a whole shop would only disturb."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from contracts import CONTRACTS
from infra.kafka import answers, apply_topics
from infra.processes import environment
from infra.settings import Settings
from infra.wait import wait_until

ANSWER_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 30.0


@contextmanager
def broker(where: Settings) -> Iterator[None]:
    """A broker on the data folder, with every topic of the contracts, until the block ends."""
    where.data_dir.mkdir(parents=True, exist_ok=True)
    with (where.data_dir / "broker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "infra.broker"], env=environment(where), stdout=log, stderr=log
        )
    try:
        wait_until(lambda: answers(where), "the broker answers", ANSWER_SECONDS_MAX)
        apply_topics(where, CONTRACTS)
        yield
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)
