"""What becomes of an event on the way: the same bytes each time, and one fault each."""

from collections import Counter
from datetime import timedelta

import pytest

from contracts import Undecodable, decode, get_contract
from generators import wire
from generators.event import Dirt, Publication
from tests.contracts.broken_rules import find_broken_rules
from tests.generators.worlds import publish_hours


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
