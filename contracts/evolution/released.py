"""The releases: a copy of each released version of a contract, which never changes again; and what
is not released as it stands.

`released/topics/sales/receipt.v1/1.0.0.yaml` is such a copy. digests.txt has a line for each, as
sha256sum writes it. A changed copy needs a changed line, which a reviewer sees.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from contracts.errors import BadContract, read_all
from contracts.loader import load_at, parse_place
from contracts.shape import Contract
from contracts.syntax import locate_fault

FOLDER = "released"
DIGESTS = "digests.txt"
VERSION = re.compile(r"^version: .*$", re.MULTILINE)

Released = Mapping[str, tuple[Contract, ...]]
"""By contract, every released version, the oldest first."""


def load_released(folder: Path) -> Released:
    """The releases of the contracts in a folder. Raises BadContracts."""
    releases: dict[str, list[Contract]] = {}
    for one in read_all(partial(_load, folder, file) for file in _list_files(folder)):
        releases.setdefault(one.name, []).append(one)
    return {name: tuple(sorted(them, key=parse_version)) for name, them in releases.items()}


def parse_version(contract: Contract) -> tuple[int, ...]:
    return tuple(map(int, contract.version.split(".")))


def locate_version(folder: Path, contract: Contract) -> Path:
    """The path of a released version of a contract."""
    home = contract.file.removesuffix(".yaml")
    return folder / FOLDER / home / f"{contract.version}.yaml"


def compute_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def load_pins(folder: Path) -> dict[str, str]:
    """The digest of every released file, by its path under released/."""
    file = folder / FOLDER / DIGESTS
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {name: sha for sha, name in (line.split("  ", 1) for line in lines)}


def keep(folder: Path, contracts: Iterable[Contract]) -> None:
    """Copy the contracts' files as released versions, each with a line in digests.txt."""
    pins = load_pins(folder)
    for contract in contracts:
        target = locate_version(folder, contract)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((folder / contract.file).read_bytes())
        pins[target.relative_to(folder / FOLDER).as_posix()] = compute_digest(target)
    lines = [f"{sha}  {name}\n" for name, sha in sorted(pins.items())]
    if lines:
        (folder / FOLDER / DIGESTS).write_text("".join(lines), encoding="utf-8")


def find_tampered(folder: Path) -> Iterator[str]:
    """The released files that differ from their digests, each with what is wrong."""
    there = {file.relative_to(folder / FOLDER).as_posix(): file for file in _list_files(folder)}
    listed = load_pins(folder)
    for name in sorted(listed.keys() | there.keys()):
        if name not in there:
            yield f"{FOLDER}/{name} should be there as it was released, but is gone"
        elif name not in listed:
            yield f"{FOLDER}/{name} should have a line in {DIGESTS}, but has none"
        elif compute_digest(there[name]) != listed[name]:
            yield f"{FOLDER}/{name} should be as it was released, but was changed"


def _list_files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).rglob("*.yaml"))


def _load(folder: Path, file: Path) -> Contract:
    home = file.parent.with_name(f"{file.parent.name}.yaml")
    one = load_at(parse_place(folder / FOLDER, home), file)
    if one.version != file.stem:
        with locate_fault(file, ""):
            raise BadContract("version", file.stem, one.version, "Released files stay put.")
    return one


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
