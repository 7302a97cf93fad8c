"""Which folder each table of the lake is in."""

from dataclasses import dataclass
from typing import Protocol

from infra.folder import Folder
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

    root: Folder

    @property
    def layers(self) -> tuple[Folder, ...]:
        """What is below it of ours."""
        return self.bronze, self.root / "silver", self.root / "gold"

    @property
    def bronze(self) -> Folder:
        return self.root / "bronze"

    def silver(self, topic: Named) -> Folder:
        return self.root / "silver" / f"{topic.domain}.{topic.entity}.v{topic.major}"

    @property
    def daily_facts(self) -> Folder:
        return self.root / "gold" / "daily-facts"


def locate_folders(settings: Settings) -> Folders:
    """Below DATA_DIR, unless a URL says where."""
    return Folders(Folder.of(settings.lake_url or (settings.data_dir / "lake").as_uri()))
