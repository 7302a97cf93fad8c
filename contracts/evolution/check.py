"""All checks of contracts that need no broker, at once."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from contracts.declarations import load_all_consumers
from contracts.evolution import contradictions, personal
from contracts.evolution.released import Pending, find_pending, load_released
from contracts.evolution.verdict import Finding, list_findings
from contracts.loader import load_all


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the check: good without faults and breaks."""

    contracts: int
    consumers: int
    faults: tuple[str, ...]
    """What is wrong with the files, and the contradictions among them."""
    findings: tuple[Finding, ...]
    """The changes since any released version, harmless or not."""
    pending: tuple[Pending, ...]
    """Contracts whose present form is not released."""
    drafts: tuple[str, ...]
    """Contracts without a writer: the first writer lets them be released."""

    @property
    def breaks(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.breaks)

    @property
    def harmless(self) -> tuple[Finding, ...]:
        """Compatible changes that are not released yet."""
        return tuple(
            finding for finding in self.findings if not finding.breaks and not finding.released
        )

    @property
    def good(self) -> bool:
        return not self.faults and not self.breaks


def check(folder: Path, today: date) -> Report:
    """The contracts, consumers and releases in a folder: every fault and every break.

    A contract that is not understood is taken as it was last released. While a file has a fault,
    nothing is said of contradictions.
    """
    loaded = load_all(folder)
    before, faults_before = load_released(folder)
    consumers, faults_of_consumers = load_all_consumers(folder / "consumers")
    faults = [
        fault.replace(f"{folder}/", "")
        for fault in (*loaded.faults, *faults_before, *faults_of_consumers)
    ]
    there = {contract.file for contract in loaded.contracts.values()}
    last = (versions[-1] for versions in before.values())
    unread = (each for each in last if each.file not in there and (folder / each.file).exists())
    present = {**loaded.contracts, **{contract.name: contract for contract in unread}}
    findings = tuple(list_findings(present, before, consumers, today))
    if not faults:
        explained = tuple(
            f"{who} reads {finding.contract}"
            for finding in findings
            if finding.breaks
            for who in finding.readers_broken
        )
        declared = contradictions.find_faults(present, before, consumers, today)
        faults += personal.find_mistakes(present)
        faults += (fault for fault in declared if not fault.startswith(explained))
    drafts = contradictions.find_drafts(present, before, consumers)
    changed = {finding.contract for finding in findings if not finding.released}
    return Report(
        contracts=len(present),
        consumers=len(consumers),
        faults=tuple(faults),
        findings=findings,
        pending=tuple(
            pending
            for pending in find_pending(folder, loaded.contracts, before, changed)
            if pending.contract not in drafts
        ),
        drafts=drafts,
    )
