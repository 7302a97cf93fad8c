from dataclasses import replace

from contracts import INCIDENTS, RECEIPTS, REFUNDS, build_model, decode, encode
from generators.event import Event
from generators.incidents.book import STORIES
from generators.ticks import HOUR_MS, START_MS
from tests.generators.worlds import CLEAN, publish_world

BUSY = replace(CLEAN, products=200, fraud_rate=0.02, look_alike_rate=0.04)
HOURS = 36
SETTLED_MS = START_MS + (HOURS - 3) * HOUR_MS


def find_incidents() -> list[Event]:
    """Those that were over long enough before the end: what was late is in the log, too."""
    incidents = publish_world(BUSY, INCIDENTS, HOURS)
    found = [incident for incident in incidents if incident["world_at"] < SETTLED_MS]
    assert found
    return found


def test_each_rule_has_frauds_and_five_ways_to_be_innocent() -> None:
    planted = {
        (incident["rule"], incident["planted_as"], incident["story"])
        for incident in find_incidents()
    }
    for rule, stories in STORIES.items():
        assert sum(rule == of and kind == "fraud" for of, kind, _ in planted) == len(stories.frauds)
        innocent = sum(rule == of and kind == "look-alike" for of, kind, _ in planted)
        assert innocent == len(stories.look_alikes) >= 5


def test_incidents_keep_their_contract_happened_and_are_told_once_after_their_last_event() -> None:
    incidents = find_incidents()
    log = {
        topic.name: {event["event_id"]: event for event in publish_world(BUSY, topic, HOURS)}
        for topic in (RECEIPTS, REFUNDS)
    }
    assert len({incident["incident_id"] for incident in incidents}) == len(incidents) > 100
    for incident in incidents:
        build_model(INCIDENTS).model_validate(decode(encode(INCIDENTS, incident)).value)
        for deed in incident["events"]:
            event = log[deed["topic"]][deed["event_id"]]
            assert event["event_time"] == deed["event_time"] < incident["world_at"]


def test_without_rates_nothing_is_planned() -> None:
    assert not publish_world(CLEAN, INCIDENTS, hours=48)
