"""A comparison asks the candidate's worker, and gets the rows of a separate process."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import repeat_in_thread
from pipelines.common.pipeline import load
from pipelines.engine import bounded, requests
from pipelines.engine.bounded import Span
from pipelines.engine.requests import (
    CLAIMED,
    RequestFailed,
    Unanswered,
    forget_claims,
    request,
    serve,
)
from tests.replay.log import draw_log
from tests.replay.playing import publish
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.spark, pytest.mark.e2e]

PIPELINE = load("inventory")
SECONDS_MAX = 120.0


@contextmanager
def worker(spark: SparkSession, settings: Settings, generation: Path) -> Iterator[None]:
    """Somebody who serves what the generation is asked for, until the block ends."""
    with repeat_in_thread(partial(serve, spark, settings, PIPELINE, generation), 0.05):
        yield


def test_a_worker_answers_with_the_rows_of_its_code(
    spark: SparkSession, kafka: Settings, tmp_path: Path
) -> None:
    publish(kafka, draw_log(create_random("a request")))
    span = Span.of(
        {}, read_end_offsets(create_admin(kafka), [topic.name for topic in PIPELINE.inputs])
    )
    own = tmp_path / "own"
    own.mkdir()
    span.write(own)
    bounded.write(spark.newSession(), kafka, PIPELINE, own)
    with worker(spark, kafka, tmp_path):
        answered = request(tmp_path, span, tmp_path / "asked", SECONDS_MAX)
    [view] = PIPELINE.writes
    assert answered.keys() == {view.name}
    rows = [
        spark.read.parquet(str(folder))
        for folder in (answered[view.name], own / answered[view.name].name)
    ]
    assert rows[0].count() > 0
    assert rows[0].exceptAll(rows[1]).isEmpty()
    assert rows[1].exceptAll(rows[0]).isEmpty()
    assert not list((tmp_path / requests.FOLDER).iterdir()), "nothing is left of the request"


def test_a_request_that_fails_says_why(
    spark: SparkSession, kafka: Settings, tmp_path: Path
) -> None:
    beyond = Span.of({}, {(PIPELINE.inputs[0].name, 99): 7})
    with worker(spark, kafka, tmp_path), pytest.raises(RequestFailed, match="99"):
        request(tmp_path, beyond, tmp_path / "asked", SECONDS_MAX)


def test_without_a_worker_nobody_waits_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "CLAIM_SECONDS_MAX", 0.1)
    with pytest.raises(Unanswered):
        request(tmp_path, Span.of({}, {}), tmp_path / "asked", SECONDS_MAX)


def test_what_a_dead_worker_had_claimed_is_done_by_the_next(
    spark: SparkSession, kafka: Settings, tmp_path: Path
) -> None:
    asked = tmp_path / requests.FOLDER / "request-1"
    asked.mkdir(parents=True)
    Span.of(
        {}, read_end_offsets(create_admin(kafka), [topic.name for topic in PIPELINE.inputs])
    ).write(asked)
    (asked / CLAIMED).touch()
    serve(spark, kafka, PIPELINE, tmp_path)
    assert not (asked / requests.DONE).exists()
    forget_claims(tmp_path)
    serve(spark, kafka, PIPELINE, tmp_path)
    assert (asked / requests.DONE).exists()
