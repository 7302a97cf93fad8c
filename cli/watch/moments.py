"""Times: of the world, of the wall clock, and of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cli.watch.feeds import Feed, Feeds
from cli.watch.words import count, render_duration, to_instant


@dataclass(frozen=True)
class WorldTime:
    """The clocks, advanced since the API's answer."""

    world_ms: float
    wall_ms: float
    speed: float
    is_running: bool

    @property
    def wall_speed(self) -> float:
        """Seconds of the world per second of the wall, to convert rates with; 1 while it stands."""
        return self.speed if self.is_running else 1.0

    def describe(self) -> str:
        pace = f"{self.speed:g} × real time" if self.is_running else "stopped"
        world, wall = to_instant(self.world_ms), to_instant(self.wall_ms).astimezone()
        return f"{world:%a %-d %b %Y %H:%M:%S} UTC · {pace} · wall {wall:%H:%M:%S}"


def read_time(feeds: Feeds) -> WorldTime | None:
    """None before the first answer."""
    clock, elapsed = feeds.clock.value, measure_age(feeds, feeds.clock)
    if clock is None or elapsed is None:
        return None
    is_running = clock["state"] == "running"
    return WorldTime(
        world_ms=clock["world_ms"] + (elapsed * 1000 * clock["speed"] if is_running else 0),
        wall_ms=clock["wall_ms"] + elapsed * 1000,
        speed=clock["speed"],
        is_running=is_running,
    )


def measure_age(feeds: Feeds, feed: Feed) -> float | None:
    """Seconds since the part's last good answer; None before there was one."""
    return None if feed.received_at is None else feeds.moment() - feed.received_at


def find_pipeline(feeds: Feeds, view: str) -> Mapping[str, Any] | None:
    """The pipeline that writes the view."""
    known = (feeds.pipelines.value or {"pipelines": ()})["pipelines"]
    return next((one for one in known if view in (one.get("views") or ())), None)


def find_counted_ms(feeds: Feeds, view: str) -> float | None:
    """The world time up to which the view's pipeline has counted; None: unknown."""
    time, pipeline = read_time(feeds), find_pipeline(feeds, view)
    behind: float | None = None if pipeline is None else pipeline.get("behind_world_seconds")
    since = measure_age(feeds, feeds.pipelines)
    if time is None or behind is None or since is None:
        return None
    return time.world_ms - 1000 * (behind + (since * time.speed if time.is_running else 0))


def describe_freshness(feeds: Feeds, feed: Feed) -> str:
    """The freshness of an answer, and its marker's time; empty without an answer."""
    age = measure_age(feeds, feed)
    if age is None:
        return ""
    dated = feed.value if isinstance(feed.value, dict) else {}
    if feed.problem:
        return f"{render_duration(age)} old: {feed.problem}"
    if "freshness_ms" not in dated:
        return f"asked {render_duration(age)} ago"
    at = f"g{dated['as_of']['generation']}, batch {count(dated['as_of']['batch'])}"
    if dated["freshness_ms"] is None:
        return f"freshness unknown · {at}"
    return f"the log of {render_duration(dated['freshness_ms'] / 1000 + age)} ago · {at}"
