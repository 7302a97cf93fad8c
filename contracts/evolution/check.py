"""All checks of contracts that need no broker, at once; and the release of what passes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from contracts.declarations import load_consumers
from contracts.errors import BadContract, read_all
from contracts.evolution import contradictions
from contracts.evolution.released import (
    Pending,
    find_pending,
    find_tampered,
    keep,
    load_released,
    replace_version,
)
from contracts.evolution.verdict import Finding, list_findings
from contracts.loader import load
from contracts.schemas import LOCK, extend, load_lock, render_lock


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the check: good without faults and breaks."""

    contracts: int
    consumers: int
    faults: tuple[str, ...] = ()
    """What is wrong with the files; where all of them load, the contradictions among them."""
    findings: tuple[Finding, ...] = ()
    """The changes since any released version, harmless or not."""
    pending: tuple[Pending, ...] = ()
    """Contracts whose present form is not released."""
    drafts: tuple[str, ...] = ()
    """Contracts without a writer: the first writer lets them be released."""

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
    """The contracts, consumers and releases in a folder: every fault and every break.

    While a file does not load, it reports only what is wrong with the files.
    """
    by_us = folder / "consumers"
    loads: list[Callable[[], Any]] = [
        partial(load, folder),
        partial(load_released, folder),
        partial(load_consumers, by_us),
    ]
    try:
        present, before, consumers = read_all(loads)
    except BadContract as bad:
        contracts = sum(1 for kind in ("topics", "views") for _ in (folder / kind).rglob("*.yaml"))
        faults = (str(fault).replace(f"{folder}/", "") for fault in bad.faults)
        return Report(contracts, len(list(by_us.glob("*"))), tuple(faults))
    findings = tuple(list_findings(present, before, consumers, today))
    named = {(each, one.contract) for one in findings if one.breaks for each in one.readers_broken}
    declared = contradictions.find_faults(present, before, consumers, today)
    drafts = contradictions.find_drafts(present, before, consumers)
    changed = {one.contract for one in findings if not one.released}
    return Report(
        contracts=len(present),
        consumers=len(consumers),
        faults=(
            *find_tampered(folder),
            *contradictions.find_unexplained(present),
            *_drop_explained(declared, named),
        ),
        findings=findings,
        pending=tuple(
            one
            for one in find_pending(folder, present, before, changed)
            if one.contract not in drafts
        ),
        drafts=drafts,
    )


def _drop_explained(faults: Iterator[str], named: set[tuple[str, str]]) -> Iterator[str]:
    """The faults, without those that a break explains already."""
    explained = tuple(f"{who} reads {topic}" for who, topic in named)
    return (one for one in faults if not one.startswith(explained))


def release(folder: Path, today: date) -> tuple[Report, Sequence[Pending]]:
    """Release the pending contracts if the check finds no fault; returns its report and the
    releases.

    A release copies the present form of a contract as a version, and gives its schema an id.
    """
    report = check(folder, today)
    if not report.good:
        return report, ()
    present = load(folder)
    for one in report.pending:
        file = folder / present[one.contract].file
        text = replace_version(file.read_text(encoding="utf-8"), one.version)
        file.write_text(text, encoding="utf-8")
    present = load(folder)
    keep(folder, [present[one.contract] for one in report.pending])
    lock = folder / LOCK.name
    after = extend(load_lock.__wrapped__(lock), present.values())
    lock.write_text(render_lock(after), encoding="utf-8")
    return report, report.pending
