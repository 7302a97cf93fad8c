"""The folder of each table of the lake."""

from dataclasses import dataclass
from typing import Protocol

from infra.folder import Folder
from infra.settings import LAKE, Settings


class Named(Protocol):
    """The part of a contract that names a folder."""

    @property
    def domain(self) -> str: ...

    @property
    def entity(self) -> str: ...

    @property
    def major(self) -> int: ...


@dataclass(frozen=True)
class Folders:
    """The folders of the lake, below one root."""

    root: Folder

    @property
    def layers(self) -> tuple[Folder, ...]:
        """The folders of the three layers."""
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
    """The lake's folders: at LAKE_URL, or below DATA_DIR."""
    return Folders(Folder.of(settings.lake_url or (settings.data_dir / LAKE).as_uri()))
