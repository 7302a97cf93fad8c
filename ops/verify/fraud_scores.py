"""Scores of alerts: recall, precision, and the time to a decision, by rule and in total."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

RECALL_AIM, PRECISION_AIM = 0.95, 0.90
OF_ONE_RULE_AIM = 0.85


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
    near_caught: Share
    """The recall of frauds near the threshold."""
    near_spared: Share
    """The share of look-alikes near the threshold without an alert of the rule."""
    to_decide: tuple[timedelta, ...]
    """For each caught fraud: the time from its first event to the deciding record."""
    to_see: tuple[timedelta, ...]
    """For each alert with a watching reader: the time from that record until the reader saw it."""

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.recall + other.recall,
            self.precision + other.precision,
            self.near_caught + other.near_caught,
            self.near_spared + other.near_spared,
            self.to_decide + other.to_decide,
            self.to_see + other.to_see,
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
        each = [
            share.share for one in self.by_rule.values() for share in (one.recall, one.precision)
        ]
        return (
            self.total.recall.share >= RECALL_AIM
            and self.total.precision.share >= PRECISION_AIM
            and min(each) >= OF_ONE_RULE_AIM
        )
