"""What time it is for whoever publishes beside the simulator, as the log says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from contracts import CLOCKS, GENERATIONS, HEARTBEATS
from contracts.consumer import reader
from contracts.validation import VALIDATED
from generators.clock import ClockState, WorldClock, wall_ms
from generators.pacer import BEHIND_MS_MAX
from generators.ticks import TICK_MS
from infra.kafka import admin, end_offsets, newest_ms, read_to_end, start_offsets
from infra.settings import Settings

LOOK_SECONDS = 5.0

decode = reader("load")


@dataclass(frozen=True)
class WorldTime:
    """As it was found at a moment. All times are epoch milliseconds."""

    clock: WorldClock | None
    """None where no simulator has ever told the time."""
    running: bool
    beat_ms: int | None
    """Up to here the simulator has certainly come."""
    newest_ms: int | None
    """The newest timestamp of a record of an event; None in a log without any."""
    followed: bool
    """Whether a pipeline has begun to read: it forgets what lies beyond the horizon."""

    def now_ms(self, wall: Callable[[], int] = wall_ms) -> int | None:
        """None where there is neither a clock nor an event.

        A simulator that was killed could not stop its clock: world time stands soon after its
        last heartbeat, as far as a living one may be behind.
        """
        if self.clock is None:
            return self.newest_ms
        now_ms = self.clock.world_at(wall()) if self.running else self.clock.world_ms
        if self.running and self.beat_ms is not None:
            slack_ms = 2 * TICK_MS + BEHIND_MS_MAX * self.clock.speed_milli // 1000
            now_ms = min(now_ms, max(self.beat_ms, self.clock.world_ms) + slack_ms)
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
    client = admin(settings)
    clocks = [decode(value).value for value in read_to_end(settings, CLOCKS.name).values()]
    told: Mapping[str, Any] = clocks[-1] if clocks else {}
    newest = newest_ms(client, VALIDATED)
    beats = [at_ms for (topic, _), at_ms in newest.items() if topic == HEARTBEATS.name]
    generations = [GENERATIONS.name]
    return WorldTime(
        clock=_clock(told) if told else None,
        running=told.get("state") == ClockState.RUNNING.value,
        beat_ms=max(beats, default=None),
        newest_ms=max(newest.values(), default=None),
        followed=end_offsets(client, generations) != start_offsets(client, generations),
    )


def _clock(told: Mapping[str, Any]) -> WorldClock:
    world_ms, wall_ms = (round(told[at].timestamp() * 1000) for at in ("world_at", "wall_at"))
    return WorldClock(world_ms, wall_ms, told["speed_milli"])
