"""All checks of contracts that need no broker, at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from contracts.consumer import load_consumers
from contracts.errors import BadContract
from contracts.evolution import declarations, personal
from contracts.evolution.matrix import Row, build_matrix
from contracts.evolution.pending import Pending, find_pending
from contracts.evolution.released import find_tampered, load_released
from contracts.evolution.verdict import Finding, list_findings
from contracts.loader import load


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the check: good without faults and breaks."""

    contracts: int = 0
    consumers: int = 0
    faults: tuple[str, ...] = ()
    """The contradictions."""
    findings: tuple[Finding, ...] = ()
    """The changes since any released version, harmless or not."""
    pending: tuple[Pending, ...] = ()
    """Contracts whose present form is not released."""
    drafts: tuple[str, ...] = ()
    """Contracts without a writer: the first writer lets them be released."""
    matrix: Mapping[str, Mapping[str, Row]] | None = None

    @property
    def breaks(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.breaks)

    @property
    def harmless(self) -> tuple[Finding, ...]:
        """Compatible changes that are not released yet."""
        return tuple(one for one in self.findings if not one.breaks and not one.released)

    @property
    def good(self) -> bool:
        return not self.faults and not self.breaks


def check(folder: Path, today: date) -> Report:
    """The contracts, consumers and releases in a folder."""
    try:
        present, before = load(folder), load_released(folder)
        consumers = load_consumers(folder / "consumers")
    except BadContract as bad:
        return Report(faults=tuple(str(bad).replace(f"{folder}/", "").splitlines()))
    findings = tuple(list_findings(present, before, consumers, today))
    named = {(each, one.contract) for one in findings if one.breaks for each in one.readers_broken}
    faults = (
        *find_tampered(folder),
        *personal.find_mistakes(present),
        *_drop_explained(declarations.find_faults(present, before, consumers, today), named),
    )
    drafts = declarations.find_drafts(present, before, consumers)
    return Report(
        contracts=len(present),
        consumers=len(consumers),
        faults=faults,
        findings=findings,
        pending=tuple(
            one
            for one in find_pending(folder, present, before, findings)
            if one.contract not in drafts
        ),
        drafts=drafts,
        matrix=build_matrix(present, before, consumers),
    )


def _drop_explained(faults: Iterator[str], named: set[tuple[str, str]]) -> Iterator[str]:
    """The faults, without those that a break explains already."""
    explained = tuple(f"{who} reads {topic}" for who, topic in named)
    return (one for one in faults if not one.startswith(explained))
