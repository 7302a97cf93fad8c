"""Which folder each table of the lake is in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.settings import Settings


class Named(Protocol):
    """A contract, as far as a folder is concerned."""

    @property
    def domain(self) -> str: ...

    @property
    def entity(self) -> str: ...

    @property
    def major(self) -> int: ...


@dataclass(frozen=True)
class Folders:
    """All of them are below one."""

    root: Path

    @property
    def bronze(self) -> Path:
        return self.root / "bronze"

    def silver(self, topic: Named) -> Path:
        return self.root / "silver" / f"{topic.domain}.{topic.entity}.v{topic.major}"

    @property
    def daily_facts(self) -> Path:
        return self.root / "gold" / "daily-facts"


def folders(settings: Settings) -> Folders:
    return Folders(settings.data_dir / "lake")
