"""How far a batch goes, which events are new, and which days they are of."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from contracts import PRODUCTS, encode, encode_key
from contracts.partitions import choose_partition
from contracts.times import EPOCH, MILLISECOND, to_epoch_ms
from infra.folder import Folder
from infra.lake import Coverage, Folders
from pipelines.engine.archive import OtherLog
from pipelines.lake import work
from pipelines.lake.tables import MOMENT, Lake
from pipelines.lake.transform import CALENDAR, IDENTITY, keep_new, list_days
from pipelines.lake.work import limit_ends, refine

A, B = ("receipts", 0), ("receipts", 1)
AT = datetime(2026, 3, 2, 10, 41, tzinfo=UTC)
OF_EVENT: dict[str, pa.DataType] = dict(
    zip(IDENTITY, (pa.int32(), pa.string(), MOMENT), strict=True)
)
EVENT = pa.schema(OF_EVENT)


def test_a_small_batch_takes_all_there_is() -> None:
    assert limit_ends({A: 5}, {A: 9, B: 3}, records_max=7) == {A: 9, B: 3}


def test_a_large_one_is_shared_out_and_comes_nearer_everywhere() -> None:
    ends = {A: 1_000, B: 3}
    reached = limit_ends({A: 0}, ends, records_max=100)
    assert all(0 < reached[partition] <= ends[partition] for partition in ends)
    assert sum(reached.values()) <= 100 + len(ends)


def test_batch_by_batch_the_end_is_reached() -> None:
    ends, reached = {A: 997, B: 31}, {A: 0, B: 0}
    for _ in range(200):
        reached = limit_ends(reached, ends, records_max=10)
    assert reached == ends


def test_a_log_that_ends_before_the_table_is_another_one() -> None:
    with pytest.raises(OtherLog, match="receipts/0"):
        limit_ends({A: 5}, {A: 4}, records_max=10)


@pytest.mark.parametrize("apart", [timedelta(), MILLISECOND, -MILLISECOND, timedelta(days=1)])
def test_a_copy_has_the_id_and_the_time_of_what_is_there(apart: timedelta) -> None:
    silver = ds.dataset(pa.Table.from_pylist([create_event(0, "E1", AT - apart)], EVENT))
    new = [create_event(0, "E1"), create_event(0, "E2"), create_event(1, "E1")]
    kept = keep_new([*new, *new], silver)
    assert kept == (new if apart else new[1:])


def create_event(partition: int, event_id: str, happened: datetime = AT) -> dict[str, Any]:
    microseconds = (happened - EPOCH) // timedelta(microseconds=1)
    return dict(zip(IDENTITY, (partition, event_id, microseconds), strict=True))


def test_silver_takes_what_it_lacks_in_parts_and_each_event_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five records one is a copy, and one breaks its contract."""
    monkeypatch.setattr(work, "RECORDS_MAX", 2)
    lake, example = Lake(Folders(Folder(str(tmp_path)))), PRODUCTS.examples[0]
    key = encode_key(PRODUCTS, example)
    partition = choose_partition(key, PRODUCTS.settings.partitions)
    values = [encode(PRODUCTS, {**example, "event_id": name}) for name in ("A", "B", "A", "C")]
    record = {"topic": PRODUCTS.name, "partition": partition, "key": key}
    published = to_epoch_ms(example["event_time"]) * 1000
    rows = [
        {**record, "offset": offset, "timestamp": published, "value": value}
        for offset, value in enumerate((*values, b"?"))
    ]
    until = Coverage(1, {(PRODUCTS.name, partition): len(rows)})
    lake.bronze.append(pa.Table.from_pylist(rows, lake.bronze.schema), until)
    silver = lake.silver(PRODUCTS)
    silver.make()
    refine(PRODUCTS, lake.bronze, silver, until)
    events = silver.open().to_table().sort_by("_offset").to_pylist()
    assert [(row["event_id"], row["_offset"]) for row in events] == [("A", 0), ("B", 1), ("C", 3)]
    assert {name: events[0][name] for name in example} == {**example, "event_id": "A"}
    assert silver.read_coverage() == Coverage(3, until.ends)


def test_daily_facts_have_the_days_of_a_calendar_and_no_others() -> None:
    day = timedelta(days=1) // timedelta(microseconds=1)
    first, last = ((of - EPOCH.date()).days for of in (date.min, date.max))
    assert (CALENDAR[0], CALENDAR[-1]) == (first, last)
    beyond = [first * day - 1, first * day, (last + 1) * day - 1, (last + 1) * day]
    times = pa.table({"event_time": pa.array(beyond, pa.int64()).cast(MOMENT)})
    assert list_days(ds.dataset(times)) == {first, last}
