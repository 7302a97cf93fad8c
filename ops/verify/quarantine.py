"""The quarantine, compared with the oracle's rejections."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from contracts import QUARANTINE
from infra.kafka import Offsets, create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_for
from ops.control.reading import ALL_FIELDS
from ops.verify.inventory import Place
from ops.verify.log import read
from ops.verify.oracles import Answering
from services.quarantine.progress import read_progress

CAUGHT_UP_SECONDS_MAX = 30.0
DIFFERENCES_SHOWN_MAX = 20


@dataclass(frozen=True)
class Listing:
    """The records listed below some offsets, compared with the expected ones."""

    rejected: int
    listed: int
    """The number of rejected records that are listed with a reason of the oracle's."""
    differences: list[str]
    """The first records that are missing, listed for another reason, or wrongly listed."""
    behind: int
    """The number of records not yet validated by the quarantine after CAUGHT_UP_SECONDS_MAX."""

    @property
    def agrees(self) -> bool:
        return not self.differences and (self.listed == self.rejected or self.behind > 0)

    @property
    def complete(self) -> bool:
        return self.agrees and self.behind == 0


def compare_listing(settings: Settings, oracle: Answering) -> Listing:
    """Compare once the quarantine has read as far as the oracle, or the time limit is over."""
    wait_for(lambda: not count_records_behind(settings, oracle.ends), CAUGHT_UP_SECONDS_MAX)
    behind = count_records_behind(settings, oracle.ends)
    listed = dict(read_reasons(settings, oracle.ends))
    differing = list(find_differences(oracle.rejected, listed, lagging=behind > 0))
    return Listing(
        rejected=len(oracle.rejected),
        listed=sum(
            may_be(oracle.rejected[at], listed[at]) for at in oracle.rejected.keys() & listed.keys()
        ),
        differences=differing[:DIFFERENCES_SHOWN_MAX],
        behind=behind,
    )


def count_records_behind(settings: Settings, ends: Offsets) -> int:
    validated = read_progress(settings).offsets
    return sum(max(0, end - validated.get(at, 0)) for at, end in ends.items())


def read_reasons(settings: Settings, ends: Offsets) -> Iterator[tuple[Place, str]]:
    """The place and reason of every listed record below the ends; copies repeat it."""
    for record in read(settings, read_end_offsets(create_admin(settings), [QUARANTINE.name])):
        row = ALL_FIELDS.read_record(QUARANTINE, record)
        if row and row["offset"] < ends.get((row["topic"], row["partition"]), 0):
            yield (row["topic"], row["partition"], row["offset"]), row["reason"]


def find_differences(
    rejected: Mapping[Place, Collection[str]], listed: Mapping[Place, str], *, lagging: bool
) -> Iterator[str]:
    for at in sorted(rejected.keys() | listed.keys()):
        place = "/".join(map(str, at))
        if at not in rejected:
            yield f"{place}: listed as {listed[at]}, but it is accepted"
        elif at not in listed:
            if not lagging:
                yield f"{place}: not listed, but it is {describe_reasons(rejected[at])}"
        elif not may_be(rejected[at], listed[at]):
            yield f"{place}: listed as {listed[at]}, but it is {describe_reasons(rejected[at])}"


def may_be(reasons: Collection[str], listed: str) -> bool:
    return not reasons or listed in reasons


def describe_reasons(reasons: Collection[str]) -> str:
    return " or ".join(reasons) or "rejected"
