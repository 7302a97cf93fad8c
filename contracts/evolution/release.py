"""Releasing: copies the present form of a contract as a version, and gives its schema an id."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from contracts.evolution.check import Report, check
from contracts.evolution.released import Pending, locate_version, replace_version
from contracts.loader import load
from contracts.schemas import LOCK, extend, load_lock, render_lock


def release(folder: Path, today: date) -> tuple[Report, Sequence[Pending]]:
    """Release the pending contracts if the check finds no fault; returns its report and the
    releases.
    """
    report = check(folder, today)
    if not report.good:
        return report, ()
    present = load(folder)
    for pending in report.pending:
        contract = present[pending.contract]
        file = folder / contract.file
        file.write_text(
            replace_version(file.read_text(encoding="utf-8"), pending.version), encoding="utf-8"
        )
        target = locate_version(folder, replace(contract, version=pending.version))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    lock = folder / LOCK.name
    entries = extend(load_lock(lock), present.values())
    lock.write_text(render_lock(entries), encoding="utf-8")
    return report, report.pending
