"""A broker for the bench alone, where a whole shop would disturb the figures."""

from collections.abc import Iterator
from contextlib import contextmanager

from contracts import CONTRACTS
from infra.kafka import apply_topics, is_answering
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until

ANSWER_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 30.0


@contextmanager
def run_broker(settings: Settings) -> Iterator[None]:
    """A broker on the data folder, with every topic of the contracts, until the block ends."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    process = start_module(settings, settings.data_dir / "broker.log", "infra.broker")
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", ANSWER_SECONDS_MAX)
        apply_topics(settings, CONTRACTS)
        yield
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)
