"""The oracle of each pipeline, which computes the same answer by other means."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from infra.errors import UserError
from infra.kafka import Offsets, Partition
from infra.settings import Settings, locate_root
from ops.verify import analytics, inventory
from ops.verify.fraud import ask_fraud_oracle
from ops.verify.inventory import Book, Place
from ops.verify.reorder import ask_reorder_oracle
from ops.verify.visits import ask_visits_oracle


class NoOracle(UserError):
    """The pipeline has no oracle."""

    def __init__(self, pipeline: str) -> None:
        known = ", ".join(ORACLES)
        super().__init__(f"There is no oracle of a pipeline {pipeline!r}. Known: {known}")


class Answering(Protocol):
    """An oracle that has read the log up to some offsets."""

    ends: Offsets

    @property
    def rejected(self) -> Mapping[Place, Collection[str]]:
        """The places of rejected records, and the possible reasons of the quarantine; none: any
        reason.
        """

    def compute_views(self) -> dict[str, list[dict[str, Any]]]: ...

    def count_books(self) -> dict[Partition, Book]: ...


Ask = Callable[[Settings, Offsets, Path], Answering]
"""Creates the oracle of a log below some offsets, by the thresholds and the policy in a copy of the
code."""

ORACLES: Mapping[str, Ask] = {
    "inventory": lambda settings, ends, _code: inventory.Oracle(settings, ends),
    "analytics": lambda settings, ends, _code: analytics.Oracle(settings, ends),
    "fraud": ask_fraud_oracle,
    "visits": ask_visits_oracle,
    "reorder": ask_reorder_oracle,
}
"""The oracles by pipeline."""


def ask_oracle(pipeline: str, settings: Settings, ends: Offsets) -> Answering:
    """The oracle of the pipeline below these offsets, by the code on disk. Raises NoOracle."""
    return get_oracle(pipeline)(settings, ends, locate_root())


def get_oracle(pipeline: str) -> Ask:
    """The oracle of the pipeline. Raises NoOracle."""
    if pipeline not in ORACLES:
        raise NoOracle(pipeline)
    return ORACLES[pipeline]
