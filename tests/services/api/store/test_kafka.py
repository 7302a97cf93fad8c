"""The API over a real broker, which gives a topic that is made anew another id."""

from pathlib import Path

import pytest

from infra.settings import Settings
from infra.wait import wait_until
from services.api.app import create_sources
from tests.services.broker import KafkaLog
from tests.services.serving import serving
from tests.services.writing import Writing, promote

pytestmark = pytest.mark.e2e


def test_a_changelog_that_was_made_anew_is_read_anew(
    kafka: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = KafkaLog(kafka)
    inventory = Writing(log)
    promote(log, inventory)
    inventory.row(1, "A", 4)
    batch = inventory.mark()
    log.flush()
    with serving(create_sources(kafka.model_copy(update={"data_dir": tmp_path}))) as api:
        api.ready(batch)
        log.make(inventory.topic, 4)
        inventory.row(1, "B", 7)
        inventory.mark()
        log.flush()
        wait_until(lambda: api.get("/v1/stock/S001/B").is_success, "the new log is read")
        assert not api.get("/v1/stock/S001/A").is_success
    assert "rebuilding from offset zero" in caplog.text
