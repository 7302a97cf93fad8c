"""A batch is written only by who knows every schema that may be in it."""

from pathlib import Path
from typing import Any

import pytest

from contracts import PRODUCTS, STORES
from contracts.schemas import NEWER_LOCK, Entry, load_known, render_lock
from pipelines.common.pipeline import load
from pipelines.engine.sink import NewerSchema, refuse_newer_before

ANALYTICS = load("analytics")
BATCH: Any = None


@pytest.fixture
def written() -> list[int]:
    """The batches that were written."""
    return []


def tell(topic: str, folder: Path, patch: pytest.MonkeyPatch) -> int:
    """Give a schema of the topic the next id, in a lock beside the code's."""
    entries = load_known()  # is loaded by then
    added = Entry(len(entries) + 1, topic, {"type": "record"})
    file = folder / "schemas.lock.json"
    file.write_text(render_lock((*entries, added)))
    patch.setenv(NEWER_LOCK, str(file))
    return added.id


@pytest.mark.parametrize("topic", [ANALYTICS.reads[0].name, PRODUCTS.name], ids=["read", "side"])
def test_a_schema_of_what_it_reads_that_it_has_not_loaded_stops_it(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    write = refuse_newer_before(ANALYTICS, lambda _, batch: written.append(batch))
    write(BATCH, 0)
    number = tell(topic, tmp_path, monkeypatch)
    with pytest.raises(NewerSchema, match=rf"analytics .* the lock file has {number} by now"):
        write(BATCH, 1)
    assert written == [0]


def test_a_schema_of_what_it_does_not_read_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[int]
) -> None:
    tell(STORES.name, tmp_path, monkeypatch)
    refuse_newer_before(ANALYTICS, lambda _, batch: written.append(batch))(BATCH, 0)
    assert written == [0]
