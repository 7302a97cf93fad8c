"""Dirt: late, beyond the horizon, twice, spoilt."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from generators.event import UNREADABLE, Dirt, Publication
from generators.world import HORIZONS_MS
from tests.generators.worlds import SMALL, publish_hours, to_published


def group_copies(publications: Iterable[Publication]) -> list[list[Publication]]:
    """Of every event that may be dirty, its publications in order."""
    copies: dict[str, list[Publication]] = defaultdict(list)
    for publication in publications:
        if publication.topic in HORIZONS_MS and publication.event.get("reason") != "opening":
            copies[publication.event["event_id"]].append(publication)
    return list(copies.values())


def test_dirt_comes_at_about_the_rates_asked_for() -> None:
    events = group_copies(publish_hours(48))
    late = beyond = twice = 0
    spoilt: Counter[Dirt] = Counter()
    for first, *again in events:
        delayed_ms = first.published_ms - first.event["event_time"]
        beyond += delayed_ms > HORIZONS_MS[first.topic]
        late += 0 < delayed_ms <= HORIZONS_MS[first.topic]
        twice += bool(again)
        spoilt[first.dirt] += 1
    assert 0.8 < late / len(events) / SMALL.late_rate < 1.2
    assert 0.7 < beyond / len(events) / SMALL.beyond_horizon_rate < 1.3
    assert 0.8 < twice / len(events) / SMALL.duplicate_rate < 1.3
    for dirt in (Dirt.FUTURE, *UNREADABLE):
        assert 0.7 < spoilt[dirt] / len(events) / SMALL.list_dirt_rates()[dirt] < 1.3


def test_a_duplicate_is_the_same_bytes_on_the_same_partition() -> None:
    for first, *again in group_copies(publish_hours(8)):
        for copy in again:
            assert copy.partition == first.partition
            assert to_published(copy).value == to_published(first).value
