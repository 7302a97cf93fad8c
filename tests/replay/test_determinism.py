"""One log, many ways into a pipeline: cut, interleaved, killed. The answer is the same."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from contracts import RELEASES
from generators.event import Dirt
from generators.ticks import HOUR_MS
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.folders import locate_checkpoint
from ops.generations.lifecycle import change
from ops.generations.record import Generations
from pipelines.common.pipeline import list_pipelines, load
from pipelines.engine import sink
from tests.brokers import empty_broker
from tests.replay.answer import SHOWN_MAX, Answer, check
from tests.replay.log import HOURS, draw_log, select_read
from tests.replay.playing import Schedule, interleave, play, publish, see_through
from tests.replay.providing import find_faults
from tests.replay.running import InSession, OwnProcess, Running, Work, create_work
from tests.seeds import create_random

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(900)]


STATE_PARTITIONS = (1, 2, 8)
WHOLE_SOON = 50
"""Records of a live batch from which on the next one is planned as that of a backlog."""
LIVELY = "inventory"
"""The pipeline that is played live for so long that it forgets, in every run of the tests."""


def list_schedules(chance: Random) -> list[Schedule]:
    """How a log may reach a pipeline; live first."""
    return [
        Schedule(
            "live",
            chunks=8,
            kills=2,
            lead_ms=chance.randrange(HOUR_MS),
            burst_max=chance.randint(1, 50),
        ),
        Schedule(
            "live, partitions far apart",
            chunks=6,
            kills=2,
            lead_ms=HOURS * HOUR_MS,
            burst_max=chance.randint(50, 500),
        ),
        Schedule(
            "killed for real",
            chunks=2,
            kills=1,
            lead_ms=chance.randrange(HOUR_MS),
            burst_max=chance.randint(1, 50),
            records_per_batch_max=chance.randint(300, 900),
            own_process=True,
        ),
        Schedule(
            "woken for each piece",
            chunks=4,
            kills=3,
            lead_ms=HOURS * HOUR_MS,
            burst_max=chance.randint(50, 500),
            records_per_batch_max=chance.randint(300, 900),
            sleeps=True,
        ),
    ]


class Forgetting(StreamingQueryListener):
    """Counts the event ids that Spark lets go of, the watermark being past them."""

    def __init__(self) -> None:
        self.ids = 0

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...  # noqa: N802

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        self.ids += sum(state.numRowsRemoved for state in event.progress.stateOperators)

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...  # noqa: N802


@pytest.fixture
def forgetting(spark: SparkSession) -> Iterator[Forgetting]:
    """It listens where it is asked for alone: each batch is told to Python, which takes a tenth of
    the test's CPU.
    """
    listener = Forgetting()
    spark.streams.addListener(listener)
    yield listener
    spark.streams.removeListener(listener)


@dataclass(frozen=True)
class Played:
    """A drawn log, played to pipelines."""

    request: pytest.FixtureRequest
    settings: Settings
    folder: Path
    patch: pytest.MonkeyPatch

    def check(self, name: str, schedule: Schedule, chance: Random, **options: str) -> int:
        """Play the log by the schedule: the answer is the oracle's. Returns the number of kills."""
        log = select_read(draw_log(chance), load(name))
        assert {entry.dirt for entry in log} == set(Dirt)
        limit = {"pipeline_records_per_batch_max": schedule.records_per_batch_max}
        kept = {"store_url": (self.folder / "kept").as_uri()} if schedule.own_process else {}
        partitions = chance.choice(STATE_PARTITIONS)
        whole_min = chance.choice([WHOLE_SOON, sink.WHOLE_RECORDS_MIN])
        self.patch.setattr(sink, "WHOLE_RECORDS_MIN", whole_min)
        print(name, schedule, f"{partitions} of state, whole stages from {whole_min} records")
        settings = self.settings.model_copy(update={**limit, **kept, **options})
        work = create_work(settings, name, partitions)
        running: Running = OwnProcess(work) if schedule.own_process else self.share(work)
        play(log, schedule, running, chance)
        answered = check(work)
        check_every_kind(answered)
        assert not list(islice(find_faults(work), SHOWN_MAX))
        print(f"{answered.batches} batches, {running.kills} kills")
        assert running.kills > 0
        assert answered.batches >= schedule.chunks
        return running.kills

    def share(self, work: Work) -> InSession:
        """In the Spark of all tests, which a process of its own leaves alone."""
        return InSession(work, self.request.getfixturevalue("spark"), self.patch)


@pytest.fixture
def played(
    request: pytest.FixtureRequest,
    shared_broker: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Played:
    return Played(request, empty_broker(shared_broker, tmp_path), tmp_path, monkeypatch)


def test_a_log_that_a_pipeline_reads_live_is_answered_as_by_the_oracle(
    played: Played, forgetting: Forgetting
) -> None:
    chance = create_random("log and schedule")
    live, *_ = list_schedules(chance)
    played.check(LIVELY, live, chance)
    wait_until(lambda: forgetting.ids > 0, "ids are forgotten while the generation is live")


@pytest.mark.thorough
@pytest.mark.parametrize("name", list_pipelines())
def test_however_a_log_reaches_a_pipeline_its_answer_is_the_oracles(
    name: str, played: Played
) -> None:
    chance = create_random("log and schedule")
    live, *others = list_schedules(chance)
    played.check(name, chance.choice(others if name == LIVELY else [live, *others]), chance)


@pytest.mark.thorough
@pytest.mark.parametrize("name", list_pipelines())
def test_stock_spark_gives_the_same_answer(name: str, played: Played) -> None:
    """With public options alone, in a process of its own that is killed once."""
    schedule = Schedule(
        "untuned", chunks=3, kills=1, lead_ms=HOUR_MS // 2, burst_max=20, own_process=True
    )
    assert played.check(name, schedule, create_random("log"), spark_tuning="off") == 1


@pytest.mark.thorough
def test_a_replay_into_another_number_of_state_partitions_changes_nothing(played: Played) -> None:
    """Each is killed once; a batch of the largest has more tasks than the session can run."""
    chance = create_random("log and schedule")
    schedule = Schedule("before", chunks=3, kills=1, lead_ms=HOUR_MS, burst_max=20)
    first, *others = STATE_PARTITIONS
    played.patch.setattr(sink, "WHOLE_RECORDS_MIN", WHOLE_SOON)
    work = create_work(played.settings, LIVELY, first)
    log = select_read(draw_log(chance), work.pipeline)
    play(log, schedule, played.share(work), chance)
    before = check(work).rows
    assert count_state_partitions(work) == first
    for number in others:
        candidate = create_work(played.settings, LIVELY, number)
        running = played.share(candidate)
        running.plan_kill(chance, batches_min=1)
        see_through(running)
        running.stop()
        assert running.kills == 1
        assert check(candidate).rows == before
        assert count_state_partitions(candidate) == number
        gone = frozenset({candidate.generation.number})
        change(played.settings, LIVELY, partial(Generations.minus, numbers=gone))


@pytest.mark.thorough
def test_a_checkpoint_keeps_its_number_whatever_a_record_says(played: Played) -> None:
    chance = create_random("log and schedule")
    work = create_work(played.settings, LIVELY, 2)
    schedule = Schedule("halves", chunks=1, kills=0, lead_ms=HOUR_MS // 2, burst_max=20)
    log = interleave(select_read(draw_log(chance), work.pipeline), schedule, chance)
    other = replace(work, generation=replace(work.generation, state_partitions=8))
    for each, part in ((work, log[: len(log) // 2]), (other, log[len(log) // 2 :])):
        publish(played.settings, part)
        running = played.share(each)
        see_through(running)
        running.stop()
        check(each)
        assert count_state_partitions(each) == 2


def count_state_partitions(work: Work) -> int:
    """How many its checkpoint has, of the first state."""
    folder = locate_checkpoint(work.settings, work.generation).folder / "state" / "0"
    return sum(name.isdecimal() for name in folder.list_names())


def check_every_kind(answered: Answer) -> None:
    """Records were applied, were copies, and were rejected; of the releases too."""
    released = [book for partition, book in answered.books.items() if partition[0] == RELEASES.name]
    for books in (answered.books.values(), released):
        assert sum(book.applied for book in books) > 0
        assert sum(book.duplicate for book in books) > 0
        assert sum(book.quarantined for book in books) > 0
