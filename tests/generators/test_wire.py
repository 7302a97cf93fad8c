"""Dirt: late, beyond the horizon, twice, spoilt; the same bytes each time, and one fault each."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import timedelta

import pytest

from contracts import Undecodable, decode, get_contract
from generators import wire
from generators.event import UNREADABLE, Dirt, Publication
from generators.world import HORIZONS_MS
from tests.contracts.broken_rules import find_broken_rules
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


def select_dirty(dirt: Dirt) -> list[Publication]:
    publications = [publication for publication in publish_hours(48) if publication.dirt is dirt]
    assert publications
    return publications


def find_faults(publication: Publication) -> set[str]:
    decoded = decode(wire.encode_value(publication))
    return find_broken_rules(decoded.contract, decoded.value)


def test_a_clock_ahead_bends_the_event_and_not_the_record() -> None:
    for publication in select_dirty(Dirt.FUTURE):
        event = decode(wire.encode_value(publication)).value
        ahead_ms = event["event_time"].timestamp() * 1000 - publication.published_ms
        skew = get_contract(publication.topic).skew
        assert skew
        assert timedelta(milliseconds=ahead_ms) > skew
        assert publication.published_ms == publication.event["event_time"]
        assert find_faults(publication) == set()


def test_malformed_is_cut_short_or_noise() -> None:
    reasons: Counter[bool] = Counter()
    for publication in select_dirty(Dirt.MALFORMED):
        with pytest.raises(Undecodable):
            decode(wire.encode_value(publication))
        reasons[wire.encode_value(publication)[:1] == b"\0"] += 1
    assert reasons[True] > reasons[False] > 0


def test_an_unknown_schema_is_in_no_lock_file() -> None:
    for publication in select_dirty(Dirt.UNKNOWN_SCHEMA):
        with pytest.raises(Undecodable, match="unknown schema id 1000"):
            decode(wire.encode_value(publication))


def test_exactly_one_rule_is_broken() -> None:
    broken: Counter[str] = Counter()
    for publication in select_dirty(Dirt.BROKEN_RULE):
        (rule,) = find_faults(publication)
        assert rule in {declared.name for declared in get_contract(publication.topic).rules}
        broken[rule] += 1
    assert len(broken) > 10
    assert broken["lines[].units is at least 1"]
