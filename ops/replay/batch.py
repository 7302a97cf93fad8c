"""Runs a pipeline's code over a part of the log, in a separate process and Spark."""

import subprocess
import sys
from pathlib import Path

from infra.errors import UserError
from infra.processes import BOUNDED
from infra.settings import Settings
from infra.wait import wait_for
from ops.generations.folders import locate_code, locate_folder
from ops.generations.record import Generation
from ops.generations.supervisor import build_environment
from pipelines.engine.bounded import Span
from pipelines.engine.requests import RequestFailed, Unanswered, request

BATCH_SECONDS_MAX = 3_600
LOG_LINES_SHOWN = 15


def run_by_worker(
    settings: Settings, generation: Generation, span: Span, folder: Path
) -> dict[str, Path]:
    """Run the batch in the generation's worker, whose Spark is warm.

    If no worker answers, run it in a separate process. Raises UserError.
    """
    home = locate_folder(settings, generation)
    try:
        return request(home, span, folder, BATCH_SECONDS_MAX)
    except Unanswered:
        return run(settings, generation.pipeline, locate_code(settings, generation), span, folder)
    except RequestFailed as why:
        raise fail(generation.pipeline, str(why)) from why


def run(settings: Settings, pipeline: str, code: Path, span: Span, folder: Path) -> dict[str, Path]:
    """Compute every view's rows over a part of the log with this code: view → Parquet folder.

    Raises UserError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    span.write(folder)
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", BOUNDED, pipeline, str(folder)],
            cwd=code,
            env=build_environment(settings, code),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
        )
        try:
            wait_for(lambda: process.poll() is not None, BATCH_SECONDS_MAX)
            if process.returncode != 0:
                raise fail(pipeline, log.read_text(errors="replace"))
        finally:
            process.kill()
            process.wait()
    return {file.stem: file for file in folder.glob("*.parquet")}


def fail(pipeline: str, log: str) -> UserError:
    """The error of code that failed while it read the log."""
    end = "\n  ".join(log.splitlines()[-LOG_LINES_SHOWN:])
    return UserError(f"{pipeline} should have read the log to its end, but failed:\n  {end}")
