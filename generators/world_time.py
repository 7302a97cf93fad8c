"""World time for publishers beside the simulator, read from the log."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from contracts import GENERATIONS
from contracts.consumer import create_reader
from contracts.validation import VALIDATED
from control.world_clock import AnnouncedClock, read_clock
from generators.clock import get_wall_ms
from infra.kafka import create_admin, read_end_offsets, read_newest_ms, read_start_offsets
from infra.settings import Settings

LOOK_SECONDS = 5.0

decode = create_reader("load")


@dataclass(frozen=True)
class WorldTime:
    """The world's time as found at a moment. All times are epoch milliseconds."""

    clock: AnnouncedClock | None
    """The announced clock; None where none was ever announced."""
    newest_ms: int | None
    """The newest timestamp of a record of an event; None in a log without any."""
    followed: bool
    """Whether a pipeline has begun to read: it forgets what lies beyond the horizon."""

    def get_now_ms(self, wall: Callable[[], int] = get_wall_ms) -> int | None:
        """No earlier than the newest event; None where there is neither a clock nor an event."""
        if self.clock is None:
            return self.newest_ms
        now_ms = self.clock.world_at(wall())
        return max(now_ms, self.newest_ms or now_ms)


class Watch:
    """World time, looked up in the log again every few seconds: a simulator may stop or start."""

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
    """World time as the log says it now; raises UnknownTopic."""
    client = create_admin(settings)
    generations = [GENERATIONS.name]
    return WorldTime(
        clock=read_clock(settings, decode),
        newest_ms=max(read_newest_ms(client, VALIDATED).values(), default=None),
        followed=read_end_offsets(client, generations) != read_start_offsets(client, generations),
    )
