"""Where the log's head is gone, a generation begins in the archive, and says the same."""

import subprocess
import sys
from collections.abc import Mapping
from random import Random

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from contracts import STOCK_LEVELS, digest
from infra.cli.replay.compare import counted, spanned
from infra.kafka import Partition, admin, end_offsets
from infra.settings import Settings, root
from pipelines.common.archive import Gap, HeadGone, NoArchive, Source, archived
from pipelines.common.bounded import part
from pipelines.common.fold import rows
from pipelines.common.generation import generations, make_outputs
from pipelines.common.pipeline import load
from pipelines.common.promotion import found
from tests.oracle.oracles import oracle
from tests.pipelines.log import collected
from tests.processes import environment
from tests.replay.answer import answer
from tests.replay.log import drawn_log
from tests.replay.playing import publish, see_through
from tests.replay.running import InSession, Work
from tests.seeds import drawn

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

SECONDS_MAX = 400
INVENTORY = load("inventory")


def test_a_generation_begins_in_the_archive_and_says_the_same(
    kafka: Settings, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed in the archive and in the log, and holds the books of every record."""
    chance = drawn("archive")
    log = drawn_log(chance)
    where = kafka.model_copy(update={"pipeline_records_per_batch_max": len(log) // 7})
    first, second = len(log) * 6 // 10, len(log) * 8 // 10
    publish(where, log[:first])
    with pytest.raises(NoArchive, match="make up LAKE=on"):
        found(where, INVENTORY, root(), source=Source.ARCHIVE)
    keep(kafka)
    publish(where, log[first:second])
    asked = oracle("inventory", where, inputs(where))
    views, books = asked.views(), asked.books()
    cut_head(where, chance)

    with pytest.raises(HeadGone, match="retail replay start inventory --source archive"):
        found(where, INVENTORY, root())
    assert generations(where, "inventory").known == ()
    work = Work(where, INVENTORY, found(where, INVENTORY, root(), source=Source.ARCHIVE))
    make_outputs(where, INVENTORY, work.generation)
    running = InSession(work, spark, monkeypatch)
    try:
        running.doom(chance)
        see_through(running)
        again = answer(work)
        assert list(again.rows[STOCK_LEVELS.name].values())
        assert again.digests == (digest(STOCK_LEVELS, views[STOCK_LEVELS.name]),)
        assert again.books == books
        ends = {at: end for at, end in again.inputs.items() if at[0] in counted(INVENTORY)}
        bounded = rows(INVENTORY, part(spark, where, spanned(where, INVENTORY, {}, ends)))
        assert digest(STOCK_LEVELS, collected(bounded)) == again.digests[0]

        publish(where, log[second:])
        running.doom(chance, batches_ahead_max=1)  # there may be no more than one
        see_through(running)
    finally:
        running.stop()
    assert running.kills == 2
    after = answer(work)
    asked = oracle("inventory", where, after.inputs)
    assert after.digests == (digest(STOCK_LEVELS, asked.views()[STOCK_LEVELS.name]),)
    assert after.books == asked.books()

    delete(where, inputs(where))
    with pytest.raises(Gap, match="what lies between is nowhere"):
        found(where, INVENTORY, root(), source=Source.ARCHIVE)


def keep(where: Settings) -> None:
    """Let the lake hold the log to its end."""
    command = [sys.executable, "-m", "pipelines.lake", "--once"]
    subprocess.run(command, cwd=root(), env=environment(where), check=True, timeout=SECONDS_MAX)


def inputs(where: Settings) -> dict[Partition, int]:
    return end_offsets(admin(where), [topic.name for topic in INVENTORY.inputs])


def cut_head(where: Settings, chance: Random) -> None:
    """Let the log begin anywhere up to where the archive ends; somewhere exactly there."""
    ends = archived(where, [topic.name for topic in INVENTORY.inputs])
    drawn_ends = {at: chance.randint(0, end) for at, end in ends.items()}
    exact = chance.choice(sorted(at for at, end in ends.items() if end))
    delete(where, {**drawn_ends, exact: ends[exact]})


def delete(where: Settings, before: Mapping[Partition, int]) -> None:
    wanted = [TopicPartition(*at, offset) for at, offset in before.items()]
    client = admin(where)  # it lives until the answers are there
    for future in client.delete_records(wanted).values():
        future.result(SECONDS_MAX)
