"""The oracle of the reorder pipeline: what reviews propose, by a batch read of the log."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from audit.inventory import Book, Place, query
from audit.limits import load_policy
from audit.log import read
from audit.tables import Row, Tables
from contracts import PRODUCTS, PROMOTIONS, PROPOSALS
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Offsets, Partition, Record, admin, end_offsets
from infra.settings import Settings
from pipelines.reorder.policy import Policy


class ReorderOracle:
    """Some records, loaded once and queried."""

    def __init__(
        self,
        records: Iterable[Record],
        policy: Policy,
        ends: Offsets | None = None,
    ) -> None:
        """`ends`: of the partitions read, for the record accounting."""
        self.ends = ends or {}
        self._tables = Tables(records)
        for name, value in asdict(policy).items():
            self._tables.engine.execute(f"set variable {name} = {value}::double")

    def views(self) -> dict[str, list[Row]]:
        """The rows of each view of the pipeline."""
        return {PROPOSALS.name: self.view()}

    def view(self) -> list[Row]:
        """The proposals, in the order of the key."""
        found = self._tables.engine.sql(query("proposal")).to_arrow_table().to_pylist()
        return [{**row, "review_at": EPOCH + row["review_at"] * MILLISECOND} for row in found]

    def books(self) -> dict[Partition, Book]:
        """The record accounting, each number counted on its own and not derived from the others."""
        return self._tables.books(self.ends)

    @property
    def rejected(self) -> Mapping[Place, Collection[str]]:
        """The places of rejected records, with the reason. Dimension topics are not in the
        accounting.
        """
        found = self._tables.rejected
        return {at: why for at, why in found.items() if at[:2] in self.ends}


def reorder_oracle(settings: Settings, ends: Offsets, code: Path) -> ReorderOracle:
    """The oracle of a log below some offsets, by the policy that stands in that code.

    Products and promotions are taken as they are known by now.
    """
    known = end_offsets(admin(settings), [PRODUCTS.name, PROMOTIONS.name])
    return ReorderOracle(read(settings, {**ends, **known}), load_policy(code), ends)
