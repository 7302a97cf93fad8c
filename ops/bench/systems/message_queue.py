"""A queue with acknowledgements, within this process: it stands for message queues.

It has neither a network nor a disk, so it costs less than any broker would.
"""

from collections import deque
from collections.abc import Iterator
from functools import partial

from contracts import RECEIPTS
from infra.kafka import create_admin, read_between, read_end_offsets
from infra.settings import Settings
from ops.bench.systems.answers import Run, Units
from ops.bench.systems.plain_loop import RECORDS_PER_STEP, Shelves, count, measure_seconds

MESSAGES_MAX = 10 * RECORDS_PER_STEP


class QueueFull(Exception):
    """The producer should wait until something is acknowledged."""


class MessageQueue:
    """Messages in order of their arrival, each gone once it is acknowledged."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._taken: list[bytes] = []

    def __len__(self) -> int:
        return len(self._waiting) + len(self._taken)

    def put(self, message: bytes) -> None:
        if len(self) >= MESSAGES_MAX:
            raise QueueFull
        self._waiting.append(message)

    def take(self, messages_max: int) -> list[bytes]:
        """The next messages; they are the taker's until it acknowledges them or is gone."""
        taken = [self._waiting.popleft() for _ in range(min(messages_max, len(self._waiting)))]
        self._taken += taken
        return taken

    def acknowledge(self) -> None:
        """Forget what was taken."""
        self._taken.clear()

    def deliver_again(self) -> None:
        """The taker is gone: what it has taken waits again, behind what waits already."""
        self._waiting.extend(self._taken)
        self._taken.clear()


class FedQueue:
    """A queue into which the log's receipts are put as soon as there is room."""

    def __init__(self, settings: Settings) -> None:
        ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
        self.queue = MessageQueue()
        self._log: Iterator[bytes] = (
            message.value() or b"" for message in read_between(settings, {}, ends)
        )

    def take(self) -> list[bytes]:
        for _ in range(MESSAGES_MAX - len(self.queue)):
            message = next(self._log, None)
            if message is None:
                break
            self.queue.put(message)
        return self.queue.take(RECORDS_PER_STEP)

    def acknowledge(self) -> None:
        self.queue.acknowledge()


def run(settings: Settings, records: int) -> Run:
    undisturbed, source = Shelves(settings.data_dir / "queue.sqlite"), FedQueue(settings)
    return Run(
        measure_seconds(partial(count, source, undisturbed)),
        undisturbed.read(),
        count_queue_with_crash(settings, records // 2),
        f"The same loop, from a queue in this process that is fed from the log. For a second "
        f"reader {len(source.queue):,} messages are left.",
        "The loop ends between a sum and its acknowledgement; another one continues.",
    )


def count_queue_with_crash(settings: Settings, records: int) -> Units:
    """What two loops count, one after the other: the first crashes after so many records."""
    source, file = FedQueue(settings), settings.data_dir / "queue-killed.sqlite"
    count(source, Shelves(file), records)
    source.queue.deliver_again()
    second = Shelves(file)
    count(source, second)
    return second.read()
