"""Contracts whose present form is not released, each with its next version."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.evolution.released import Released, locate_version, parse_version
from contracts.evolution.verdict import Finding
from contracts.shape import Contract

VERSION = re.compile(r"^version: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pending:
    """A contract whose file differs from its last release; None: it was never released."""

    contract: str
    released: str | None
    version: str


def find_pending(
    folder: Path, present: Mapping[str, Contract], before: Released, findings: Sequence[Finding]
) -> Iterator[Pending]:
    for name, contract in present.items():
        versions = before.get(name)
        if versions is None:
            yield Pending(name, None, contract.version)
        elif _read_text(folder / contract.file) != _read_text(locate_version(folder, versions[-1])):
            changed = any(one.contract == name and not one.released for one in findings)
            yield Pending(
                name, versions[-1].version, _find_next_version(versions[-1], contract, changed)
            )


def replace_version(text: str, version: str) -> str:
    """The file's text with another version."""
    return VERSION.sub(f"version: {version}", text, count=1)


def _read_text(file: Path) -> str:
    return replace_version(file.read_text(encoding="utf-8"), "any")


def _find_next_version(last: Contract, present: Contract, changed: bool) -> str:
    """The next version: the author's own if it is higher; else a minor version for a change, or a
    patch for other words.
    """
    if parse_version(present) > parse_version(last):
        return present.version
    major, minor, patch = parse_version(last)
    return f"{major}.{minor + 1}.0" if changed else f"{major}.{minor}.{patch + 1}"
