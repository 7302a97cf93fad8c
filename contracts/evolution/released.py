"""The releases: a copy of each released version of a contract, which never changes again; and what
is not released as it stands.

`released/topics/sales/receipt.v1/1.0.0.yaml` is such a copy.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from contracts.errors import BadContract, Faults, Part
from contracts.loader import Partial, load_at, parse_place
from contracts.projection import Path as FieldPath
from contracts.shape import Contract, Field

FOLDER = "released"
VERSION = re.compile(r"^version: .*$", re.MULTILINE)
TERMS = {field.name for field in fields(Contract)} - {"rules"}

Released = Mapping[str, tuple[Contract, ...]]
"""By contract, every released version, the oldest first."""


def load_released(folder: Path) -> tuple[Released, tuple[BadContract, ...]]:
    """The releases that are understood, and the faults of the others."""
    releases: dict[str, list[Contract]] = {}
    faults = Faults()
    for file in sorted((folder / FOLDER).rglob("*.yaml")):
        with faults.collect():
            home = file.parent.with_name(f"{file.parent.name}.yaml")
            contract = load_at(parse_place(folder / FOLDER, home), file)
            if contract.version != file.stem:
                advice = "Released files stay put."
                raise BadContract(file, "version", file.stem, contract.version, advice)
            releases.setdefault(contract.name, []).append(contract)
    every = {name: tuple(sorted(them, key=parse_version)) for name, them in releases.items()}
    return every, tuple(faults.found)


def complete(partial: Partial, last: Contract) -> Contract:
    """The contract, with what is not understood as it was last released."""
    contract, missing = partial.contract, partial.missing
    terms = {name: getattr(last, name) for name in missing if name in TERMS}
    rules = (
        *(rule for rule in contract.rules if not {rule.path, rule.name} & missing),
        *(rule for rule in last.rules if {rule.path, rule.name} & missing),
    )
    fields = _complete_fields(contract.fields, last.fields, missing)
    return replace(contract, **{"fields": fields, "rules": rules, **terms})


def _complete_fields(
    fields: Sequence[Field],
    released: Sequence[Field],
    missing: Collection[Part],
    parents: FieldPath = (),
) -> tuple[Field, ...]:
    by_name = {field.name: field for field in released}
    completed = []
    for field in fields:
        path, last = (*parents, field.name), by_name.get(field.name)
        if path in missing and last:
            completed.append(last)
        else:
            inner = _complete_fields(field.fields, last.fields if last else (), missing, path)
            completed.append(replace(field, fields=inner))
    return tuple(completed)


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
