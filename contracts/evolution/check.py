"""All checks of contracts that need no broker, at once."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from contracts.declarations import load_all_consumers
from contracts.evolution import contradictions, personal
from contracts.evolution.contradictions import Unread
from contracts.evolution.released import Pending, Released, complete, find_pending, load_released
from contracts.evolution.verdict import Finding, list_findings
from contracts.loader import Loaded, load_all
from contracts.shape import Contract


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

    What is not understood of a contract is taken as it was last released.
    """
    loaded = load_all(folder)
    before, faults_before = load_released(folder)
    all_consumers, faults_of_consumers = load_all_consumers(folder / "consumers")
    faults = (*loaded.faults, *faults_before, *faults_of_consumers)
    present = _complete(loaded, before)
    consumers = {name: consumer for name, consumer in all_consumers.items() if consumer}
    files = {contract.file for contract in present.values()}
    unread = Unread(frozenset(loaded.partial) - files, all_consumers)
    findings = tuple(list_findings(present, before, consumers, today))
    declared = contradictions.find_faults(present, before, consumers, today, unread)
    explained = tuple(
        f"{who} reads {finding.contract}"
        for finding in findings
        if finding.breaks
        for who in finding.readers_broken
    )
    drafts = contradictions.find_drafts(present, before, consumers)
    changed = {finding.contract for finding in findings if not finding.released}
    return Report(
        contracts=len(loaded.contracts) + len(loaded.partial),
        consumers=len(all_consumers),
        faults=(
            *(str(fault).replace(f"{folder}/", "") for fault in faults),
            *personal.find_mistakes(present),
            *(fault for fault in declared if not fault.startswith(explained)),
        ),
        findings=findings,
        pending=tuple(
            pending
            for pending in find_pending(folder, loaded.contracts, before, changed)
            if pending.contract not in drafts
        ),
        drafts=drafts,
    )


def _complete(loaded: Loaded, before: Released) -> dict[str, Contract]:
    """The contracts, also those with faults, unless nothing says what they would be."""
    present = dict(loaded.contracts)
    last = {versions[-1].file: versions[-1] for versions in before.values()}
    for file, partial in loaded.partial.items():
        if partial is None or (partial.missing and file not in last):
            contract = last.get(file)
        else:
            contract = complete(partial, last.get(file, partial.contract))
        if contract is not None:
            present.setdefault(contract.name, contract)
    return present
