"""Everything that the catalogue shows, gathered once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from contracts.declarations import Consumers, Use, find_readers, find_writers, load_consumers
from contracts.evolution.changes import find_changes
from contracts.evolution.released import Released, load_released
from contracts.loader import load
from contracts.odcs import read
from contracts.schemas import LOCK, Entry, load_lock
from contracts.shape import Contract

HUES = 12


@dataclass(frozen=True, slots=True)
class Words:
    """The prose of a contract."""

    usage: str
    limitations: str
    settings: str
    spans: Mapping[str, str]
    """The reasons for horizon and skew."""


@dataclass(frozen=True)
class Knowledge:
    """Contracts, consumers and releases of one folder."""

    folder: Path
    contracts: Mapping[str, Contract]
    consumers: Consumers
    released: Released
    schemas: tuple[Entry, ...]
    data_docs: str | None
    """The address of the lake's validation results, if there are any."""

    @cached_property
    def domains(self) -> tuple[str, ...]:
        return tuple(sorted({one.domain for one in self.contracts.values()}))

    def get_hue(self, contract: Contract) -> str:
        """The CSS class with a domain's colour."""
        return f"hue-{self.domains.index(contract.domain) % HUES}"

    def find_readers(self, contract: Contract) -> Mapping[str, Use]:
        return find_readers(self.consumers, contract.name)

    def find_writers(self, contract: Contract) -> tuple[str, ...]:
        return find_writers(self.consumers, contract.name)

    def read_words(self, contract: Contract) -> Words:
        document = read(self.folder / contract.file)
        description, custom = document.description, document.customProperties or ()
        return Words(
            usage=(description.usage if description else None) or "",
            limitations=(description.limitations if description else None) or "",
            settings=next(
                (one.description or "" for one in custom if one.property == "topicConfig"), ""
            ),
            spans={
                str(one.property): one.description or "" for one in document.slaProperties or ()
            },
        )

    def list_history(self, contract: Contract) -> list[tuple[str, list[str]]]:
        """Every released version with what changed in it, the newest first."""
        versions = self.released.get(contract.name, ())
        entries = []
        for before, one in zip((None, *versions), versions, strict=False):
            changes = (
                [f"{each.place}: {each.text}" for each in find_changes(before, one)]
                if before
                else []
            )
            entries.append(
                (one.version, changes or ["first released" if not before else "better words"])
            )
        return entries[::-1]

    def list_schema_ids(self, contract: Contract) -> list[int]:
        return [entry.id for entry in self.schemas if entry.topic == contract.name]


def gather(folder: Path, data_docs: str | None = None) -> Knowledge:
    """The knowledge in the folder of contracts. Raises BadContract."""
    return Knowledge(
        folder=folder,
        contracts=dict(sorted(load(folder).items(), key=lambda one: _rank(one[1]))),
        consumers=load_consumers(folder / "consumers"),
        released=load_released(folder),
        schemas=load_lock(folder / LOCK.name),
        data_docs=data_docs,
    )


def _rank(contract: Contract) -> tuple[str, ...]:
    """Contracts by domain; in each the public ones first."""
    return (contract.domain, "01"[contract.visibility == "private"], contract.name)
