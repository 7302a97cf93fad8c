"""The quality of alerts, compared one by one with the incidents that the simulator planted.

An alert is right if it rests on an event of a fraud, planted for any rule. A fraud is caught if an
open alert of its own rule rests on one of its events.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from contracts import ALERTS, HEARTBEATS, INCIDENTS
from contracts.times import EPOCH
from infra.kafka import Partition
from infra.settings import Settings
from ops.control.reading import ALL_FIELDS, read_newest_rows
from ops.verify.fraud import list_rules
from ops.verify.log import read_simulated
from ops.verify.served import fetch_views
from pipelines.fraud.thresholds import Thresholds

Alert = Mapping[str, Any]
"""A row of the view."""
Incident = Mapping[str, Any]
Place = tuple[str, str]

RULES = tuple(list_rules(Thresholds()))
RECALL_AIM, PRECISION_AIM = 0.95, 0.90
OF_ONE_RULE_AIM = 0.85

SETTLING = timedelta(hours=10)
"""The least time from an incident's end to its score: it may last a shift and is reported when it
is over; its last event may be two hours late."""

BEATS: Partition = (HEARTBEATS.name, 0)
BEATS_READ = 1_000  # the last ones, in case others than heartbeats are among them


@dataclass(frozen=True)
class Share:
    """A number of hits out of a total."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        return self.hits / self.of if self.of else 1.0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.hits + other.hits, self.of + other.of)

    def __str__(self) -> str:
        return f"{self.hits}/{self.of}"


@dataclass(frozen=True)
class Score:
    """The score of one rule, or of all together."""

    recall: Share
    """The share of frauds that were caught."""
    precision: Share
    """The share of open alerts that are right."""
    to_decide: tuple[timedelta, ...]
    """For each caught fraud: the time from its first event to the deciding record."""

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.recall + other.recall,
            self.precision + other.precision,
            self.to_decide + other.to_decide,
        )

    @property
    def decided_in(self) -> timedelta | None:
        """The median time to a decision."""
        seconds = [span.total_seconds() for span in self.to_decide]
        return timedelta(seconds=median(seconds)) if seconds else None


@dataclass(frozen=True)
class Scores:
    by_rule: Mapping[str, Score]

    @property
    def total(self) -> Score:
        first, *others = self.by_rule.values()
        return sum(others, first)

    @property
    def good(self) -> bool:
        """Whether the total and each rule reach their aims."""
        scores = self.by_rule.values()
        worst = min(min(score.recall.share, score.precision.share) for score in scores)
        return (
            self.total.recall.share >= RECALL_AIM
            and self.total.precision.share >= PRECISION_AIM
            and worst >= OF_ONE_RULE_AIM
        )


def score_view(settings: Settings) -> Scores:
    """Score the served alerts, up to the world's time at their marker. Raises ApiDown."""
    planted = read_incidents(settings)  # first: then the log holds all events of each
    live = fetch_views(settings, "fraud")
    ends_at = read_heartbeat(settings, live.inputs[BEATS])
    return compute_scores(live.views[ALERTS.name], planted, ends_at)


def read_incidents(settings: Settings) -> list[Incident]:
    """Every incident that the simulator has reported."""
    return [row for _, row in read_simulated(settings, INCIDENTS)]


def read_heartbeat(settings: Settings, end: int) -> datetime:
    """The world's time by the last heartbeat below the offset; 1970 before the first."""
    starts = {BEATS: max(0, end - BEATS_READ)}
    last = read_newest_rows(settings, ALL_FIELDS, HEARTBEATS, starts, {BEATS: end})
    happened: list[datetime] = [row["event_time"] for row in last.values()]
    return max(happened, default=EPOCH)


def compute_scores(
    alerts: Iterable[Alert], incidents: Collection[Incident], ends_at: datetime
) -> Scores:
    """Score the incidents and alerts that are settled at the end of the log."""
    settled = ends_at - SETTLING
    incidents_by_place: dict[Place, list[Incident]] = defaultdict(list)
    for incident in incidents:
        for place in list_places(incident["events"]):
            incidents_by_place[place].append(incident)
    raised = [alert for alert in alerts if alert["status"] == "open"]
    over = [incident for incident in incidents if incident["world_at"] <= settled]
    return Scores(
        {
            rule: compute_score(
                [alert for alert in raised if alert["rule"] == rule],
                [incident for incident in over if incident["rule"] == rule],
                incidents_by_place,
                settled,
            )
            for rule in RULES
        }
    )


def compute_score(
    raised: Iterable[Alert],
    planted: Collection[Incident],
    incidents_by_place: Mapping[Place, list[Incident]],
    settled: datetime,
) -> Score:
    """The score of one rule, from its alerts and the incidents planted for it."""
    hit: dict[str, datetime] = {}
    judged = []
    for row in raised:
        about = [
            incident
            for place in list_places(row["evidence"])
            for incident in incidents_by_place.get(place, ())
        ]
        for incident in about:
            decided = hit.get(incident["incident_id"], row["decided_at"])
            hit[incident["incident_id"]] = min(decided, row["decided_at"])
        if row["decided_at"] <= settled:
            judged.append(any(incident["planted_as"] == "fraud" for incident in about))
    frauds = [incident for incident in planted if incident["planted_as"] == "fraud"]
    caught = [incident for incident in frauds if incident["incident_id"] in hit]
    return Score(
        recall=Share(len(caught), len(frauds)),
        precision=Share(sum(judged), len(judged)),
        to_decide=tuple(
            hit[incident["incident_id"]] - min(event["event_time"] for event in incident["events"])
            for incident in caught
        ),
    )


def list_places(events: Iterable[Mapping[str, Any]]) -> Iterator[Place]:
    for event in events:
        yield event["topic"], event["event_id"]
