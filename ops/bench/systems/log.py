"""The log of the job: receipts, and every fiftieth of them a second time."""

from infra.settings import Settings
from ops.bench import receipts

CHUNK = 10_000
COPIES = 200
"""So many receipts of each chunk come again after it: their till had no acknowledgement."""


def publish(settings: Settings, number: int) -> None:
    """Publish so many receipts, in whole chunks, and the copies."""
    log = receipts.Log(settings)
    for start in range(0, number, CHUNK):
        receipts.append(log, start, start + CHUNK)
        receipts.append(log, start, start + COPIES)
    log.flush()
