"""Everything that the catalogue shows, gathered once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contracts.declarations import Consumers, Use, find_readers, find_writers, load_consumers
from contracts.evolution.changes import find_changes
from contracts.evolution.released import Released, load_released
from contracts.loader import load
from contracts.odcs import read
from contracts.schemas import LOCK, Entry, load_lock
from contracts.shape import Contract


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
        history: list[tuple[str, list[str]]] = []
        before: Contract | None = None
        for one in self.released.get(contract.name, ()):
            changes = list(find_changes(before, one)) if before else []
            words = "better words" if before else "first released"
            listed = [f"{each.place}: {each.text}" for each in changes]
            history.append((one.version, listed or [words]))
            before = one
        return history[::-1]

    def list_schema_ids(self, contract: Contract) -> list[int]:
        return [entry.id for entry in self.schemas if entry.topic == contract.name]


def gather(folder: Path) -> Knowledge:
    """The knowledge in the folder of contracts. Raises BadContract."""
    return Knowledge(
        folder=folder,
        contracts=dict(sorted(load(folder).items(), key=lambda one: _rank(one[1]))),
        consumers=load_consumers(folder / "consumers"),
        released=load_released(folder),
        schemas=load_lock(folder / LOCK.name),
    )


def _rank(contract: Contract) -> tuple[str, ...]:
    """Contracts by domain; in each the public ones first."""
    return (contract.domain, "01"[contract.visibility == "private"], contract.name)
