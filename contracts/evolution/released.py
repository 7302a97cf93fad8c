"""The releases: a copy of each released version of a contract, which never changes again; and what
is not released as it stands.

`released/topics/sales/receipt.v1/1.0.0.yaml` is such a copy.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.loader import parse_place, read_file
from contracts.shape import Contract

FOLDER = "released"
VERSION = re.compile(r"^version: .*$", re.MULTILINE)

Released = Mapping[str, tuple[Contract, ...]]
"""By contract, every released version, the oldest first."""


def load_released(folder: Path) -> tuple[Released, tuple[str, ...]]:
    """The releases that are understood, and the faults of the others."""
    releases: dict[str, list[Contract]] = {}
    faults: list[str] = []
    for file in sorted((folder / FOLDER).rglob("*.yaml")):
        home = file.parent.with_name(f"{file.parent.name}.yaml")
        contract, found = read_file(parse_place(folder / FOLDER, home), file)
        faults += found
        if contract and contract.version != file.stem:
            faults.append(
                f"{file}: version: expected {file.stem}, found {contract.version}. "
                "Released files stay put."
            )
        elif contract:
            releases.setdefault(contract.name, []).append(contract)
    every = {name: tuple(sorted(them, key=parse_version)) for name, them in releases.items()}
    return every, tuple(faults)


def parse_version(contract: Contract) -> tuple[int, ...]:
    return tuple(map(int, contract.version.split(".")))


def locate_version(folder: Path, contract: Contract) -> Path:
    """The path of a released version of a contract."""
    home = contract.file.removesuffix(".yaml")
    return folder / FOLDER / home / f"{contract.version}.yaml"


@dataclass(frozen=True, slots=True)
class Pending:
    """A contract whose file differs from its last release; None: it was never released."""

    contract: str
    released: str | None
    version: str


def find_pending(
    folder: Path, present: Mapping[str, Contract], before: Released, changed: Collection[str]
) -> Iterator[Pending]:
    """The contracts to be released; a change that is not only in words is a minor version."""
    for name, contract in present.items():
        versions = before.get(name)
        if versions is None:
            yield Pending(name, None, contract.version)
        elif _read_text(folder / contract.file) != _read_text(locate_version(folder, versions[-1])):
            following = _find_next_version(versions[-1], contract, name in changed)
            yield Pending(name, versions[-1].version, following)


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
