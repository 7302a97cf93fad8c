"""A candidate's first batch ends at a marker of the promoted one, and is compared there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic

import duckdb
import pytest
from pyspark.sql import SparkSession

from contracts import MARKERS, decode
from contracts.times import MILLISECOND
from infra.kafka import Offsets, create_admin, read_all, read_end_offsets
from infra.settings import Settings, locate_root
from ops.generations.folders import locate_checkpoint, locate_folder
from ops.generations.lifecycle import change
from ops.generations.marker import Marker
from ops.generations.record import Generations
from ops.replay import candidates
from ops.replay.compare import Code, Served, select_ends
from ops.replay.first_batch import Before
from ops.replay.plan import Plan
from pipelines.common.pipeline import load
from pipelines.engine import bounded, first_batch
from pipelines.engine.bounded import Span
from pipelines.engine.pace import LIVE_RECORDS_MAX
from pipelines.engine.query import Run, begin_where_asked
from tests.replay.answer import answer
from tests.replay.checking import check
from tests.replay.log import draw_log
from tests.replay.playing import publish, see_through
from tests.replay.running import InSession, Work, create_work
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.spark, pytest.mark.e2e, pytest.mark.timeout(600)]

FRAUD = load("fraud")
UNREAD = timedelta(minutes=30)
"""World time that is published after the asked end. No more than an hour may be."""
CODE = locate_root(), Code(locate_root(), "generation 1")


@pytest.fixture(scope="module")
def ends(kafka: Settings) -> Offsets:
    """The offsets up to half an hour before the end of a log."""
    log = draw_log(create_random("a first batch"))
    last = log[-1].published_ms - UNREAD // MILLISECOND
    publish(kafka, (entry for entry in log if entry.published_ms <= last))
    found = read_input_ends(kafka)
    publish(kafka, (entry for entry in log if entry.published_ms > last))
    return found


@pytest.fixture
def work(kafka: Settings, ends: Offsets) -> Iterator[Work]:
    made = create_work(kafka, FRAUD.name)
    yield made
    (locate_folder(kafka, made.generation) / first_batch.ENDS).unlink(missing_ok=True)


def read_input_ends(settings: Settings) -> Offsets:
    return read_end_offsets(create_admin(settings), [topic.name for topic in FRAUD.inputs])


def ask(work: Work, ends: Offsets) -> None:
    first_batch.ask(locate_folder(work.settings, work.generation), ends)


def has_begun(work: Work, spark: SparkSession) -> bool:
    """Whether a live query would begin where it was asked to."""
    begin_where_asked(Run(spark, work.settings, work.pipeline, work.generation))
    return locate_checkpoint(work.settings, work.generation).find_newest_begun() >= 0


def test_it_ends_anywhere_unless_it_can_end_there(
    spark: SparkSession, work: Work, ends: Offsets
) -> None:
    assert not has_begun(work, spark), "nobody has asked"
    ask(work, dict(list(ends.items())[1:]))
    assert not has_begun(work, spark), "a partition is missing"
    ask(work, dict.fromkeys(ends, 0))
    assert not has_begun(work, spark), "a live batch may not leave so much world time"


def test_only_a_short_log_is_asked_for(
    kafka: Settings,
    work: Work,
    ends: Offsets,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Served(1, 7, dict(ends), {}, {})
    monkeypatch.setattr("ops.replay.first_batch.fetch_served", lambda *_: seen)
    for records, asked in ((LIVE_RECORDS_MAX, ends), (LIVE_RECORDS_MAX + 1, {})):
        plan = Plan(records, disk_bytes=0, memory_bytes=0)
        monkeypatch.setattr(candidates, "plan_replay", lambda *_, plan=plan: plan)
        started = candidates.start(kafka, FRAUD, folder=tmp_path)
        made = locate_folder(kafka, started.generation)
        assert first_batch.read_ends(made) == asked
        assert (started.before is not None) == bool(asked)
        change(
            kafka,
            FRAUD.name,
            partial(Generations.minus, numbers=frozenset({started.generation.number})),
        )


def test_what_it_has_written_there_is_compared(
    spark: SparkSession,
    kafka: Settings,
    work: Work,
    ends: Offsets,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = Before(kafka, FRAUD, tmp_path, compute_served(spark, kafka, ends, tmp_path), {})
    assert before.compare(work.generation, CODE) is None, "it has not begun"
    ask(work, ends)
    running = InSession(work, spark, monkeypatch)
    try:
        see_through(running)
    finally:
        running.stop()
    markers = [Marker.parse(decode(value).value) for value in read_all(kafka, MARKERS.name)]
    assert markers[0].inputs == ends
    assert markers[-1].inputs == read_input_ends(kafka)
    check(answer(work), work)

    compared = before.compare(work.generation, CODE)
    assert compared is not None
    assert compared.empty
    assert compared.records == sum(select_ends(FRAUD, ends).values())
    [view] = compared.views
    assert view.before == view.after > 0

    [name] = before.seen.files
    file = tmp_path / "fewer.ndjson"
    file.write_text("".join(before.seen.files[name].read_text().splitlines(keepends=True)[1:]))
    fewer = replace(before, seen=replace(before.seen, files={name: file}))
    differs = fewer.compare(work.generation, CODE)
    assert differs is not None
    assert [(view.added, view.removed, view.changed) for view in differs.views] == [(1, 0, 0)]

    elsewhere = replace(before, seen=replace(before.seen, inputs=dict(markers[-1].inputs)))
    assert elsewhere.compare(work.generation, CODE) is None
    kept_seconds = int(FRAUD.writes[0].settings.config["min.compaction.lag.ms"]) / 1000
    assert replace(before, since=monotonic() - kept_seconds).compare(work.generation, CODE) is None


def compute_served(spark: SparkSession, settings: Settings, ends: Offsets, folder: Path) -> Served:
    """What the API would serve at these offsets: the rows of the code, in one batch."""
    Span.of({}, select_ends(FRAUD, ends)).write(folder)
    bounded.write(spark.newSession(), settings, FRAUD, folder)
    [view] = FRAUD.writes
    file = folder / f"{view.name}.ndjson"
    duckdb.execute(
        f"copy (select * from '{folder}/{view.name}.parquet/*.parquet') to '{file}' (format json)"
    )
    return Served(1, 7, dict(ends), {view.name: None}, {view.name: file})
