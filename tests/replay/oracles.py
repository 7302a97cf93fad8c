"""The oracle of each pipeline: the same answer by other means."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from infra.kafka import Partition
from infra.settings import Settings
from tests.oracle.inventory import Book, Oracle


class Answering(Protocol):
    """What an oracle that has read the log up to some offsets can be asked."""

    def view(self) -> list[dict[str, Any]]: ...

    def books(self) -> dict[Partition, Book]: ...


ORACLES: Mapping[str, Callable[[Settings, Mapping[Partition, int]], Answering]] = {
    "inventory": Oracle,
}
"""By the name of the pipeline."""
