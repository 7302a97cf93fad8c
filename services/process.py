"""The process of a service that follows Kafka until a signal stops it."""

import signal
from collections.abc import Callable
from threading import Event, Thread

from infra.errors import UserError
from infra.kafka import KafkaDown, is_answering
from infra.logs import set_up_logging
from infra.settings import Settings, read_settings


def run(name: str, work: Callable[[Settings, Event], None]) -> int:
    """Work until a signal arrives. Returns the exit status: 1 after a user error, which it logs."""
    log = set_up_logging(name)
    current = read_settings()
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        # In a thread: the signal may interrupt the wait that holds the lock of `set`.
        signal.signal(number, lambda *_: Thread(target=stop.set).start())
    try:
        if not is_answering(current):
            raise KafkaDown(current.bootstrap_servers)
        work(current, stop)
    except UserError as error:
        log.error("%s", error)
        return 1
    return 0
