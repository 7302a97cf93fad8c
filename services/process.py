"""The process of a service that follows Kafka: it works until it is told to stop."""

import signal
from collections.abc import Callable
from threading import Event, Thread

from infra.errors import Trouble
from infra.kafka import KafkaDown, answers
from infra.logs import setup_logging
from infra.settings import Settings, settings


def run(name: str, work: Callable[[Settings, Event], None]) -> int:
    """Work until a signal comes; returns the exit status, 1 after trouble, which it logs."""
    log = setup_logging(name)
    current = settings()
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        # From a thread: the signal may interrupt the very wait whose lock `set` needs.
        signal.signal(number, lambda *_: Thread(target=stop.set).start())
    try:
        if not answers(current):
            raise KafkaDown(current.bootstrap_servers)
        work(current, stop)
    except Trouble as trouble:
        log.error("%s", trouble)
        return 1
    return 0
