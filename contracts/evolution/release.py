"""Releasing: copies the present form of a contract as a version, and gives its schema an id."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from contracts.evolution.check import Report, check
from contracts.evolution.released import (
    DIGESTS,
    FOLDER,
    Pending,
    compute_digest,
    load_pins,
    locate_version,
    replace_version,
)
from contracts.loader import load
from contracts.schemas import LOCK, extend, load_lock, render_lock


def release(folder: Path, today: date) -> tuple[Report, Sequence[Pending]]:
    """Release the pending contracts if the check finds no fault; returns its report and the
    releases.
    """
    report = check(folder, today)
    if not report.good:
        return report, ()
    for one in report.pending:
        file = folder / load(folder)[one.contract].file
        file.write_text(
            replace_version(file.read_text(encoding="utf-8"), one.version), encoding="utf-8"
        )
    _keep(folder, report.pending)
    _lock(folder)
    return report, report.pending


def _keep(folder: Path, every: Sequence[Pending]) -> None:
    present, pins = load(folder), load_pins(folder)
    for one in every:
        contract = present[one.contract]
        target = locate_version(folder, contract)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((folder / contract.file).read_bytes())
        pins[target.relative_to(folder / FOLDER).as_posix()] = compute_digest(target)
    lines = [f"{sha}  {name}\n" for name, sha in sorted(pins.items())]
    if lines:
        (folder / FOLDER / DIGESTS).write_text("".join(lines), encoding="utf-8")


def _lock(folder: Path) -> None:
    file = folder / LOCK.name
    after = extend(load_lock.__wrapped__(file), load(folder).values())
    file.write_text(render_lock(after), encoding="utf-8")
