"""The oracle of the reorder pipeline: the proposals of its reviews, by a batch read of the log."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from contracts import PRODUCTS, PROMOTIONS, PROPOSALS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Record, create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.accounted import Accounted
from ops.verify.inventory import read_query
from ops.verify.limits import load_policy
from ops.verify.log import read
from ops.verify.tables import Row
from pipelines.reorder.policy import Policy


class ReorderOracle(Accounted):
    """The proposals of some records."""

    def __init__(
        self, records: Iterable[Record], policy: Policy, ends: Offsets | None = None
    ) -> None:
        super().__init__(records, ends)
        for name, value in asdict(policy).items():
            self._tables.engine.execute(f"set variable {name} = {value}::double")

    def compute_views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        return {PROPOSALS.name: self.compute_view()}

    def compute_view(self) -> list[Row]:
        """The proposals, in the order of the key."""
        return [
            {**row, "review_at": EPOCH + row["review_at"] * MILLISECOND}
            for row in self.select(read_query("proposal"))
        ]


def ask_reorder_oracle(settings: Settings, ends: Offsets, code: Path) -> ReorderOracle:
    """The oracle of a log below some offsets, by the policy in that code.

    It reads products and promotions to the current end of their topics.
    """
    known = read_end_offsets(create_admin(settings), [PRODUCTS.name, PROMOTIONS.name])
    return ReorderOracle(read(settings, {**ends, **known}), load_policy(code), ends)
