"""One process: reads what is published, and keeps what is rejected."""

import signal
import sys
from threading import Event, Thread

from infra.errors import Trouble
from infra.kafka import KafkaDown, answers
from infra.logs import setup_logging
from infra.settings import settings
from services.quarantine.following import follow


def main() -> int:
    log = setup_logging("quarantine")
    current = settings()
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        # From a thread: the signal may interrupt the very wait whose lock `set` needs.
        signal.signal(number, lambda *_: Thread(target=stop.set).start())
    try:
        if not answers(current):
            raise KafkaDown(current.bootstrap_servers)
        follow(current, stop)
    except Trouble as trouble:
        log.error("%s", trouble)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
