"""The releases: a copy of each released version of a contract, which never changes again.

`released/topics/sales/receipt.v1/1.0.0.yaml` is such a copy. digests.txt has a line for each, as
sha256sum writes it. A changed copy needs a changed line, which a reviewer sees.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from contracts.errors import BadContract
from contracts.loader import load_at, parse_place
from contracts.shape import Contract

FOLDER = "released"
DIGESTS = "digests.txt"

Released = Mapping[str, tuple[Contract, ...]]
"""By contract, every released version, the oldest first."""


def load_released(folder: Path) -> Released:
    """The releases of the contracts in a folder. Raises BadContract."""
    releases: dict[str, list[Contract]] = {}
    for file in _list_files(folder):
        one = _load(folder, file)
        releases.setdefault(one.name, []).append(one)
    return {name: tuple(sorted(every, key=parse_version)) for name, every in releases.items()}


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
        raise BadContract(file, "version", file.stem, one.version, "Released files stay put.")
    return one
