"""Requests to a generation's worker: a batch of its code over a part of the log.

The comparison of a candidate asks the process that runs it: its Spark is warm, and another one
would take half a minute to start. A request is a folder in the generation's folder, with the part
of the log (`bounded.Span`). The worker claims it, writes each view's rows into it, and reports
success or the reason of a failure.
"""

import logging
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession

from infra.settings import Settings
from infra.wait import wait_for
from pipelines.common.pipeline import Pipeline
from pipelines.engine.bounded import SPAN, Span, write
from pipelines.engine.session import POOL

log = logging.getLogger("pipeline")

FOLDER = "requests"
"""The folder of requests in the generation's folder."""
CLAIMED, DONE, FAILED = "claimed", "done", "failed"
"""The files of the worker's answer; the last one holds the reason of a failure."""
LOOK_SECONDS = 1.0
CLAIM_SECONDS_MAX = 10.0
"""A worker whose code has requests looks for one each LOOK_SECONDS, unless it serves another."""


class Unanswered(Exception):
    """No worker has claimed the request, or its worker is gone."""


class RequestFailed(Exception):
    """The worker failed; the text is its reason."""


def request(generation: Path, span: Span, target: Path, seconds_max: float) -> dict[str, Path]:
    """Ask the worker of the generation in this folder for each view's rows over a part of the log.

    Returns view → Parquet folder, below the target. Raises Unanswered and RequestFailed.
    """
    folder = generation / FOLDER
    folder.mkdir(exist_ok=True)
    asked = Path(tempfile.mkdtemp(prefix="request-", dir=folder))
    try:
        span.write(asked)
        if not wait_for((asked / CLAIMED).exists, CLAIM_SECONDS_MAX):
            raise Unanswered
        if not wait_for(lambda: has_ended(asked), seconds_max) or not asked.exists():
            raise Unanswered
        if (failed := asked / FAILED).exists():
            raise RequestFailed(failed.read_text())
        target.mkdir(parents=True, exist_ok=True)
        return {
            file.stem: file.rename(target / file.name) for file in sorted(asked.glob("*.parquet"))
        }
    finally:
        shutil.rmtree(asked, ignore_errors=True)


def has_ended(asked: Path) -> bool:
    """Whether there is an answer, or the generation is gone."""
    return not asked.exists() or (asked / DONE).exists() or (asked / FAILED).exists()


def forget_claims(generation: Path) -> None:
    """Release the claimed requests of a worker that has ended."""
    for claimed in (generation / FOLDER).glob(f"request-*/{CLAIMED}"):
        if not has_ended(claimed.parent):
            claimed.unlink(missing_ok=True)


def serve(spark: SparkSession, settings: Settings, pipeline: Pipeline, generation: Path) -> None:
    """Serve the requests to the generation's worker, in a session of its own.

    A failed request answers with its reason, and does not affect the generation.
    """
    for asked in list_unclaimed(generation):
        try:
            (asked / CLAIMED).touch()
            spark.sparkContext.setLocalProperty(POOL, pipeline.name)
            write(spark.newSession(), settings, pipeline, asked)
        except Exception as error:  # any error: the requester gets it
            log.warning("%s: a request failed: %s", pipeline.name, error)
            answer(asked, FAILED, str(error))
        else:
            answer(asked, DONE)


def serve_all(
    spark: SparkSession, settings: Settings, served: Mapping[Path, Pipeline], stopping: Event
) -> None:
    """Serve the requests of all generations that a worker runs, one after the other.

    `served`: the folder of each generation, and its pipeline.
    """
    for generation in served:
        forget_claims(generation)
    while not stopping.wait(LOOK_SECONDS):
        for generation, pipeline in served.items():
            serve(spark, settings, pipeline, generation)


def list_unclaimed(generation: Path) -> list[Path]:
    """The complete requests."""
    spans = (generation / FOLDER).glob(f"request-*/{SPAN}")
    return [span.parent for span in spans if not (span.parent / CLAIMED).exists()]


def answer(asked: Path, name: str, text: str = "") -> None:
    """Write an answer, whole or not at all; write none if its folder is gone."""
    with suppress(FileNotFoundError):
        unfinished = asked / f"{name}.unfinished"
        unfinished.write_text(text)
        unfinished.replace(asked / name)
