"""Where the log no longer begins at zero, a generation begins in the archive, and says the same."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from contracts import compute_digest
from infra.errors import UserError
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets
from infra.processes import build_environment
from infra.settings import Settings, locate_root
from ops.generations.lifecycle import load_generations, make_outputs
from ops.generations.promotion import create_candidate, find_prefix_ends
from ops.replay.compare import build_span
from ops.verify.inventory import Book
from ops.verify.oracles import ask_oracle
from pipelines.common.pipeline import Pipeline, list_pipelines, load
from pipelines.engine import bounded
from pipelines.engine.archive import LogTruncated, Source, read_archive_ends
from tests.replay.answer import Answer, check
from tests.replay.log import Entry, draw_log
from tests.replay.playing import publish, see_through
from tests.replay.running import InSession, Work
from tests.rows import collect_rows
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

SECONDS_MAX = 400
ROUNDS_MIN = 5
"""In which the archive is read: more than a generation sees that is to be killed."""


@dataclass(frozen=True)
class OracleAnswer:
    ends: Offsets
    """Up to which offsets it has read."""
    digests: Mapping[str, str]
    """By view."""
    books: Mapping[Partition, Book]


@dataclass(frozen=True)
class CutLog:
    """A log without its first records, which the lake holds."""

    settings: Settings
    chance: Random
    room: Pipeline
    """What begins in the archive; one is drawn, as all do so by the same code."""
    whole: OracleAnswer
    """What its oracle said while they were there."""
    rest: list[Entry]
    """What is to be published yet."""


@pytest.fixture(scope="module")
def cut_log(kafka: Settings) -> CutLog:
    chance = create_random("archive")
    log = draw_log(chance)
    first, second = len(log) * 6 // 10, len(log) * 8 // 10
    publish(kafka, log[:first])
    keep(kafka)
    publish(kafka, log[first:second])
    room = load(chance.choice(list_pipelines()))
    whole = compute_answer(kafka, room, inputs(kafka, room))
    cut_head(kafka, chance)
    return CutLog(kafka, chance, room, whole, log[second:])


def test_where_no_archive_is_kept_it_is_said_how_to_keep_one(
    kafka: Settings, tmp_path: Path
) -> None:
    nowhere = kafka.model_copy(update={"data_dir": tmp_path})
    with pytest.raises(UserError, match="make up LAKE=on"):
        find_prefix_ends(nowhere, load("inventory"), Source.ARCHIVE)


def test_a_generation_begins_in_the_archive_and_says_the_same(
    cut_log: CutLog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is killed in the archive and in the log, and holds the books of every record."""
    work = begun(cut_log)
    whole = cut_log.whole
    assert compute_answer(cut_log.settings, work.pipeline, whole.ends) == whole, (
        "the oracle reads it too"
    )
    running = InSession(work, spark, monkeypatch)
    try:
        running.plan_kill(cut_log.chance)
        see_through(running)
        again = check(work)
        assert in_one_batch(work, again, spark, tmp_path) == again.digests

        running.plan_kill(cut_log.chance, batches_min=1)
        publish(cut_log.settings, cut_log.rest)
        see_through(running)
    finally:
        running.stop()
    assert running.kills == 2
    check(work)


def test_where_records_are_nowhere_no_generation_begins(cut_log: CutLog) -> None:
    inventory = load("inventory")
    delete(cut_log.settings, inputs(cut_log.settings, inventory))
    with pytest.raises(UserError, match="the records in between are lost"):
        find_prefix_ends(cut_log.settings, inventory, Source.ARCHIVE)


def keep(settings: Settings) -> None:
    """Let the archive hold the log to its end."""
    command = [sys.executable, "-m", "tests.replay.keeping"]
    subprocess.run(
        command, cwd=locate_root(), env=build_environment(settings), check=True, timeout=SECONDS_MAX
    )


def inputs(settings: Settings, pipeline: Pipeline) -> dict[Partition, int]:
    return read_end_offsets(create_admin(settings), [topic.name for topic in pipeline.inputs])


def compute_answer(settings: Settings, pipeline: Pipeline, ends: Offsets) -> OracleAnswer:
    """What the pipeline's oracle says of everything below these offsets."""
    asked = ask_oracle(pipeline.name, settings, ends)
    views = asked.compute_views()
    digests = {view.name: compute_digest(view, views[view.name]) for view in pipeline.writes}
    return OracleAnswer(ends, digests, asked.count_books())


def begun(log: CutLog) -> Work:
    """A generation that begins in the archive, as the log alone is refused."""
    pipeline = replace(log.room, every=timedelta())
    print(pipeline.name)
    with pytest.raises(LogTruncated, match=f"retail replay start {pipeline.name} --source archive"):
        find_prefix_ends(log.settings, pipeline, Source.LOG)
    assert load_generations(log.settings, pipeline.name).members == ()
    ends = find_prefix_ends(log.settings, pipeline, Source.ARCHIVE)
    limit = {"pipeline_records_per_batch_max": sum(ends.values()) // ROUNDS_MIN}
    settings = log.settings.model_copy(update=limit)
    work = Work(settings, pipeline, create_candidate(settings, pipeline, locate_root(), ends))
    make_outputs(settings, pipeline, work.generation)
    return work


def in_one_batch(work: Work, answer: Answer, spark: SparkSession, folder: Path) -> tuple[str, ...]:
    """The digest of each view by one batch over archive and log, as a difference is made."""
    settings, pipeline = work.settings, work.pipeline
    build_span(settings, pipeline, answer.inputs).write(folder)
    bounded.write(spark, settings, pipeline, folder)
    rows = (spark.read.parquet(str(folder / f"{view.name}.parquet")) for view in pipeline.writes)
    return tuple(
        compute_digest(view, collect_rows(each))
        for view, each in zip(pipeline.writes, rows, strict=True)
    )


def cut_head(settings: Settings, chance: Random) -> None:
    """Let the log of every pipeline begin anywhere up to where the archive ends.

    Somewhere exactly there.
    """
    topics = {topic.name for name in list_pipelines() for topic in load(name).inputs}
    ends = read_archive_ends(settings, topics)
    drawn_ends = {partition: chance.randint(0, end) for partition, end in ends.items()}
    exact = chance.choice(sorted(partition for partition, end in ends.items() if end))
    delete(settings, {**drawn_ends, exact: ends[exact]})


def delete(settings: Settings, before: Offsets) -> None:
    wanted = [TopicPartition(*partition, offset) for partition, offset in before.items()]
    client = create_admin(settings)  # it lives until the answers are there
    for future in client.delete_records(wanted).values():
        future.result(SECONDS_MAX)
