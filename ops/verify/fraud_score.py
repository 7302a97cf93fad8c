"""The quality of alerts, compared one by one with the incidents that the simulator planted.

An alert is right if it rests on an event of a fraud, planted for any rule. A fraud is caught if an
open alert of its own rule rests on one of its events.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from contracts import INCIDENTS
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS
from ops.verify.fraud_scores import Score, Scores, Share
from ops.verify.log import number_records, read
from pipelines.fraud.thresholds import Thresholds

Incident = Mapping[str, Any]
Place = tuple[str, str]

NEAR_PERCENT = 25
"""An incident is near the threshold if its strength differs by no more."""

SETTLING = timedelta(hours=10)
"""The least time from an incident's end to its score: it may last a shift and is reported when it
is over; its last event may be two hours late."""


class Alert(NamedTuple):
    """A row of the view, and the time when a reader first saw it, if one watched."""

    row: Mapping[str, Any]
    seen_at: datetime | None = None


Alerts = Callable[[], Iterable[Alert]]


def compute_scores(
    alerts: Alerts, incidents: Collection[Incident], ends_at: datetime, limits: Thresholds
) -> Scores:
    """Score the incidents and alerts that are settled at the end of the log."""
    settled = ends_at - SETTLING
    incidents_by_place: dict[Place, list[Incident]] = defaultdict(list)
    for incident in incidents:
        for place in list_places(incident["events"]):
            incidents_by_place[place].append(incident)
    raised = [one for one in alerts() if one.row["status"] == "open"]
    over = [incident for incident in incidents if incident["world_at"] <= settled]
    return Scores(
        {
            rule: compute_score(
                [one for one in raised if one.row["rule"] == rule],
                [incident for incident in over if incident["rule"] == rule],
                incidents_by_place,
                threshold,
                settled,
            )
            for rule, threshold in list_thresholds(limits).items()
        }
    )


def compute_score(
    raised: Iterable[Alert],
    planted: Collection[Incident],
    incidents_by_place: Mapping[Place, list[Incident]],
    threshold: int,
    settled: datetime,
) -> Score:
    """The score of one rule, from its alerts and the incidents planted for it."""
    hit: dict[str, datetime] = {}
    judged = []
    waited = []
    for row, seen_at in raised:
        about = [
            one
            for place in list_places(row["evidence"])
            for one in incidents_by_place.get(place, ())
        ]
        for one in about:
            decided = hit.get(one["incident_id"], row["decided_at"])
            hit[one["incident_id"]] = min(decided, row["decided_at"])
        if row["decided_at"] <= settled:
            judged.append(any(one["planted_as"] == "fraud" for one in about))
            waited += [seen_at - row["decided_at"]] if seen_at else []
    frauds = [one for one in planted if one["planted_as"] == "fraud"]
    innocent = [one for one in planted if one["planted_as"] != "fraud"]
    caught = [one for one in frauds if one["incident_id"] in hit]
    return Score(
        recall=Share(len(caught), len(frauds)),
        precision=Share(sum(judged), len(judged)),
        near_caught=count_share(
            select_near(frauds, threshold), lambda one: one["incident_id"] in hit
        ),
        near_spared=count_share(
            select_near(innocent, threshold), lambda one: one["incident_id"] not in hit
        ),
        to_decide=tuple(
            hit[one["incident_id"]] - min(event["event_time"] for event in one["events"])
            for one in caught
        ),
        to_see=tuple(waited),
    )


def count_share(incidents: Collection[Incident], holds: Callable[[Incident], bool]) -> Share:
    return Share(sum(map(holds, incidents)), len(incidents))


def select_near(incidents: Iterable[Incident], threshold: int) -> list[Incident]:
    return [
        one
        for one in incidents
        if abs(one["strength"] - threshold) * 100 <= threshold * NEAR_PERCENT
    ]


def list_places(events: Iterable[Mapping[str, Any]]) -> Iterator[Place]:
    for event in events:
        yield event["topic"], event["event_id"]


def list_thresholds(limits: Thresholds) -> Mapping[str, int]:
    """By rule, the threshold for its alerts and for the strength of its incidents."""
    return {
        "card-velocity": limits.card_sales_per_window_max,
        "impossible-travel": limits.speed_kmh_max,
        "sweethearting": limits.given_away_cents_max,
        "refund-without-receipt": limits.unbacked_cents_max,
        "refund-rate": limits.blind_refunds_max,
        "bulk-purchase": limits.packs_hundredths_max,
    }


def read_incidents(settings: Settings) -> list[Incident]:
    """Every incident that the simulator has reported."""
    numbered = number_records(
        read(settings, read_end_offsets(create_admin(settings), [INCIDENTS.name]))
    )
    rows = (
        ALL_FIELDS.read_record(INCIDENTS, one) for one, number in numbered if number is not None
    )
    return [dict(row) for row in rows if row is not None]
