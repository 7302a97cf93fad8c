"""The record accounting of oracles that load records as tables."""

from collections.abc import Collection, Iterable, Mapping

from infra.kafka import Offsets, Partition, Record
from ops.verify.inventory import Book, Place
from ops.verify.tables import Row, Tables


class Accounted:
    """Some records, loaded once, for queries."""

    def __init__(self, records: Iterable[Record], ends: Offsets | None = None) -> None:
        """`ends`: the ends of the partitions read, for the record accounting."""
        self.ends = ends or {}
        self._tables = Tables(records)

    def select(self, sql: str) -> list[Row]:
        """The rows of a query over the tables."""
        return list(self._tables.engine.sql(sql).to_arrow_table().to_pylist())

    def count_books(self) -> dict[Partition, Book]:
        """The record accounting. It counts each number and derives none from the others."""
        return self._tables.count_books(self.ends)

    @property
    def rejected(self) -> Mapping[Place, Collection[str]]:
        """The places of rejected records, with the reason. Dimension topics are not in the
        accounting.
        """
        reasons = self._tables.rejected
        return {at: why for at, why in reasons.items() if at[:2] in self.ends}
