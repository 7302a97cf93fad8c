"""The API over a real broker: what it keeps, what it builds again, and when it shows what."""

from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

import pytest

from infra.settings import Settings
from infra.wait import wait_until
from services.api.app import create_sources
from tests.services.broker import KafkaLog
from tests.services.serving import Answers, serving
from tests.services.writing import Writing, promote

pytestmark = pytest.mark.e2e

GENERATIONS = count(1)  # the broker is shared: a test has a generation to itself


class Shop:
    """One generation in Kafka, and the API of a data folder of its own."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.log = KafkaLog(settings)
        self.inventory = Writing(self.log, next(GENERATIONS))
        self._settings = settings.model_copy(update={"data_dir": folder})
        self.promote(self.inventory)

    def promote(self, promoted: Writing, *others: Writing) -> None:
        promote(self.log, promoted, *others)
        self.log.flush()

    def mark(self) -> int:
        batch = self.inventory.mark()
        self.log.flush()
        return batch

    def api(self) -> AbstractContextManager[Answers]:
        return serving(create_sources(self._settings))


@pytest.fixture
def shop(kafka: Settings, tmp_path: Path) -> Shop:
    return Shop(kafka, tmp_path)


def get_units(api: Answers, sku: str) -> int:
    return int(api.json(f"/v1/stock/S001/{sku}")["units_on_hand"])


def test_rows_are_shown_from_their_marker_on_and_a_restart_goes_on_from_its_offsets(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.inventory.row(1, "A", 4)
    first = shop.mark()
    shop.inventory.row(1, "A", 3, version=2)
    shop.log.flush()
    with shop.api() as api:
        assert get_units(api.ready(first), "A") == 4
        assert get_units(api.ready(shop.mark()), "A") == 3
    caplog.clear()
    shop.inventory.row(1, "B", 7)
    with shop.api() as api:
        api.ready(shop.mark())
        assert (get_units(api, "A"), get_units(api, "B")) == (3, 7)
    assert "rebuilding" not in caplog.text


def test_a_changelog_that_was_made_anew_is_read_anew(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.inventory.row(1, "A", 4)
    with shop.api() as api:
        api.ready(shop.mark())
        shop.log.make(shop.inventory.topic, 4)
        shop.inventory.row(1, "B", 7)
        shop.mark()
        wait_until(lambda: api.get("/v1/stock/S001/B").is_success, "the new log is read")
        assert not api.get("/v1/stock/S001/A").is_success
    assert "rebuilding from offset zero" in caplog.text
