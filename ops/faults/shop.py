"""The shop in which faults are done: the processes of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from infra.settings import Settings
from infra.supervisor import parts
from ops.faults.catalog import FAULTS
from ops.faults.fault import Fault


class Shop(Protocol):
    """A running shop, wherever its processes are."""

    @property
    def settings(self) -> Settings:
        """The settings by which this machine reaches Kafka and the API."""

    @property
    def faults(self) -> Mapping[str, Fault]:
        """What can be done in a shop of this kind, by name."""

    def refuse_elsewhere(self) -> None:
        """Raise a UserError unless the shop runs and is of this kind."""

    def find_parts(self) -> Mapping[str, int]:
        """The ids of the running processes, by the names of the parts."""


@dataclass(frozen=True)
class LocalShop:
    """A shop that `make up` has started on this machine."""

    settings: Settings

    def __str__(self) -> str:
        return f"the shop on {self.settings.data_dir}"

    @property
    def faults(self) -> Mapping[str, Fault]:
        return FAULTS

    def refuse_elsewhere(self) -> None:
        """Raise NotLocal unless the whole shop runs on this machine under its process manager."""
        parts.refuse_elsewhere(self.settings)

    def find_parts(self) -> Mapping[str, int]:
        return parts.find_parts(self.settings)
