"""Continues where the log ends: no record is lost or published twice."""

from collections.abc import Mapping
from typing import NamedTuple

from generators import wire
from generators.numbering import Counts, Publication
from infra.errors import UserError


class OtherWorld(UserError):
    """The log holds another world's records."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"The log holds another world: expected {expected}, found {found}. "
            "Set the SIMULATOR_* settings back, or empty the log with: make reset"
        )


class Published(NamedTuple):
    """The last record of the simulator in a partition."""

    published_ms: int
    sequence: int
    key: bytes
    value: bytes


Ends = Mapping[tuple[str, int], Published]  # by topic and partition


class Logged:
    """The records in the log when the simulator started; the world skips them."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._ahead = dict(ends)

    @property
    def newest_ms(self) -> int:
        """World time of the newest record; zero in an empty log."""
        return max((end.published_ms for end in self._ends.values()), default=0)

    def count_records(self, like: Counts) -> Counts:
        """The number of the world's records in each partition, for the same topics."""
        return {
            topic: [
                self._ends[topic, place].sequence + 1 if (topic, place) in self._ends else 0
                for place in range(len(counts))
            ]
            for topic, counts in like.items()
        }

    def skip(self, counts: Counts) -> None:
        """Skip the records that the world has published already."""
        self._ahead = {
            (topic, place): end
            for (topic, place), end in self._ahead.items()
            if end.sequence >= counts[topic][place]
        }

    def select_missing(self, publications: list[Publication]) -> list[Publication]:
        """The publications that the log lacks.

        Raises OtherWorld if a partition's last record differs from this world's.
        """
        if not self._ahead:
            return publications
        return [publication for publication in publications if not self._holds(publication)]

    def _holds(self, publication: Publication) -> bool:
        where = publication.topic, publication.partition
        end = self._ahead.get(where)
        if end is None or publication.sequence > end.sequence:
            return False
        if publication.sequence == end.sequence:
            _compare(publication, end)
            del self._ahead[where]
        return True


def _compare(publication: Publication, end: Published) -> None:
    value = wire.encode_value(publication)
    again = Published(
        publication.published_ms, publication.sequence, publication.key.encode(), value
    )
    if again != end:
        where = f"{publication.topic}/{publication.partition}, sequence {end.sequence}"
        raise OtherWorld(f"{again} as {where}", str(end))
