"""A score that cannot be bad proves nothing; and the rules' scores, over a newly drawn world."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from contracts import INCIDENTS, decode
from contracts.times import EPOCH, MILLISECOND
from generators import wire
from generators.ticks import TICKS_PER_DAY
from generators.world import World
from infra.kafka import Record
from ops.verify.fraud import FraudOracle, list_rules
from ops.verify.fraud_score import SETTLING, Alert, Incident, Score, Scores, Share, compute_scores
from pipelines.fraud.thresholds import Thresholds
from tests.generators.worlds import CLEAN
from tests.seeds import create_random
from tests.timeline import parse_clock

pytestmark = pytest.mark.thorough

LATER = parse_clock("12:00", days=3)
RULE = "card-velocity"
DAYS = 4


def event(name: str) -> dict[str, Any]:
    return {"topic": "t", "event_id": name, "event_time": parse_clock("10:00")}


def incident(name: str, planted_as: str = "fraud", rule: str = RULE) -> Incident:
    """With one event, of the same name."""
    of = {"incident_id": f"I-{name}", "rule": rule, "planted_as": planted_as}
    return {**of, "world_at": parse_clock("10:05"), "events": [event(name)]}


def alert(*events: str, rule: str = RULE, **row: Any) -> Alert:
    """Resting on the events of those names."""
    open_ = {"rule": rule, "status": "open", "decided_at": parse_clock("10:04")}
    return {**open_, "evidence": [event(name) for name in events], **row}


def compute_score(alerts: list[Alert], *incidents: Incident, rule: str = RULE) -> Score:
    return compute_scores(alerts, incidents, LATER).by_rule[rule]


def test_a_fraud_is_caught_by_an_alert_that_rests_on_one_of_its_events() -> None:
    score = compute_score([alert("a", "x")], incident("a"), incident("b"))
    assert (score.recall, score.precision) == (Share(1, 2), Share(1, 1))
    assert score.decided_in == timedelta(minutes=4)


def test_an_alert_of_another_rule_is_right_and_does_not_catch_it() -> None:
    alerts = [alert("a", rule="bulk-purchase")]
    assert compute_score(alerts, incident("a")).recall == Share(0, 1)
    assert compute_score(alerts, incident("a"), rule="bulk-purchase").precision == Share(1, 1)


def test_an_alert_on_the_innocent_or_on_nothing_planted_is_wrong() -> None:
    score = compute_score([alert("a"), alert("z")], incident("a", "look-alike"))
    assert score.precision == Share(0, 2)
    assert score.recall == Share(0, 0)


def test_what_was_withdrawn_neither_catches_nor_errs() -> None:
    score = compute_score([alert("a", status="withdrawn")], incident("a"))
    assert (score.recall, score.precision) == (Share(0, 1), Share(0, 0))


def test_what_is_not_settled_is_not_scored() -> None:
    young = LATER - SETTLING + timedelta(minutes=1)
    score = compute_score([alert("a", decided_at=young)], {**incident("a"), "world_at": young})
    assert (score.recall, score.precision) == (Share(0, 0), Share(0, 0))


def test_one_bad_rule_spoils_a_good_total() -> None:
    planted = [incident(f"{n}") for n in range(98)]
    planted += [incident(name, rule="bulk-purchase") for name in "ab"]
    alerts = [alert(f"{n}") for n in range(98)]
    assert not compute_scores(alerts, planted, LATER).good
    alerts += [alert(name, rule="bulk-purchase") for name in "ab"]
    assert compute_scores(alerts, planted, LATER).good


def test_the_rules_find_what_a_drawn_world_plants() -> None:
    """Four days are few incidents of each rule: by rule, the limits are a little lower here.

    What is planted near a threshold may be missed, and how much of it there is, is chance: it
    counts in the total alone.

    Everything published is valid: the refund of a receipt that was rejected has no receipt, so its
    alert is right by the log and wrong by the plan, and how many there are is chance.
    """
    chance = create_random("planted frauds")
    incidents: list[Incident] = []
    valid = replace(CLEAN, seed=chance.getrandbits(31), duplicate_rate=0.05, late_rate=0.05)
    large = replace(valid, stores=8, products=200, receipts_per_minute=20.0)
    world = World(replace(large, fraud_rate=0.001, look_alike_rate=0.004))
    records = list(log(world, incidents))
    alerts = FraudOracle(records, Thresholds()).compute_view()
    ends_at = EPOCH + max(record.published_ms for record in records) * MILLISECOND
    scores = compute_scores(alerts, incidents, ends_at)
    assert scores.total.recall.of > 60
    assert scores.total.recall.share >= 0.9, render_scores(scores)
    assert scores.total.precision.share >= 0.88, render_scores(scores)
    far = [planted for planted in incidents if not is_near(planted)]
    plain = compute_scores(alerts, far, ends_at)
    for rule, of_rule in scores.by_rule.items():
        recall = plain.by_rule[rule].recall
        assert recall.of - recall.hits <= 3, (rule, render_scores(scores))
        assert of_rule.precision.hits + 3 >= of_rule.precision.of, (rule, render_scores(scores))


def log(world: World, incidents: list[Incident]) -> Iterator[Record]:
    """What the world publishes; incidents are put aside."""
    for _ in range(DAYS * TICKS_PER_DAY):
        for publication in world.tick():
            if publication.topic == INCIDENTS.name:
                incidents.append(decode(wire.encode_value(publication)).value)
            elif not publication.topic.startswith("private."):
                place = publication.topic, publication.partition, publication.sequence
                key, value = publication.key.encode(), wire.encode_value(publication)
                yield Record(*place, publication.published_ms, key, value, ())


def is_near(incident: Incident) -> bool:
    """Whether its strength is within a quarter of the rule's threshold."""
    threshold = list_rules(Thresholds())[incident["rule"]].threshold
    return bool(abs(incident["strength"] - threshold) * 4 <= threshold)


def render_scores(scores: Scores) -> str:
    return ", ".join(
        f"{rule}: caught {score.recall}, right {score.precision}"
        for rule, score in scores.by_rule.items()
    )
