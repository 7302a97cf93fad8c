"""World time for publishers other than the simulator, read from the log."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from contracts import GENERATIONS
from contracts.consumer import create_reader
from contracts.validation import VALIDATED
from generators.clock import get_wall_ms
from infra.kafka import create_admin, read_end_offsets, read_newest_ms, read_start_offsets
from infra.settings import Settings
from ops.control.reading import Reader
from ops.control.world_clock import AnnouncedClock, read_clock

LOOK_SECONDS = 5.0

READER = Reader(create_reader("load"))


@dataclass(frozen=True)
class WorldTime:
    """The world's time, read once. All times are epoch milliseconds."""

    clock: AnnouncedClock | None
    """The announced clock; None if none was announced."""
    newest_ms: int | None
    """The newest timestamp of an event's record; None in a log without events."""
    followed: bool
    """Whether a pipeline has begun to read: it forgets ids beyond the horizon."""

    def get_now_ms(self, wall: Callable[[], int] = get_wall_ms) -> int | None:
        """World time now, at least the newest event's; None with neither a clock nor an event."""
        if self.clock is None:
            return self.newest_ms
        now_ms = self.clock.world_at(wall())
        return max(now_ms, self.newest_ms or now_ms)


class Watch:
    """World time, read again every LOOK_SECONDS: a simulator may stop or start."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found = look(settings)
        self._next_look = monotonic() + LOOK_SECONDS

    @property
    def time(self) -> WorldTime:
        if monotonic() >= self._next_look:
            self._found = look(self._settings)
            self._next_look = monotonic() + LOOK_SECONDS
        return self._found


def look(settings: Settings) -> WorldTime:
    """Read world time from the log. Raises UnknownTopic."""
    client = create_admin(settings)
    generations = [GENERATIONS.name]
    return WorldTime(
        clock=read_clock(settings, READER),
        newest_ms=max(read_newest_ms(client, VALIDATED).values(), default=None),
        followed=read_end_offsets(client, generations) != read_start_offsets(client, generations),
    )
