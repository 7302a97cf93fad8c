"""A pipeline's code over a part of the log, in a process and a Spark of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.cli import screen
from infra.errors import Trouble
from infra.settings import Settings, root
from infra.wait import until
from pipelines.common import snapshot
from pipelines.common.bounded import Span
from pipelines.crew import environment

BATCH_SECONDS_MAX = 3_600
LOG_LINES_SHOWN = 15


class BatchFailed(Trouble):
    """The code does not get through the log."""

    def __init__(self, pipeline: str, log: Path) -> None:
        end = "\n  ".join(log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:])
        super().__init__(f"{pipeline} should have read the log to its end, but failed:\n  {end}")


@contextmanager
def workplace(settings: Settings) -> Iterator[Path]:
    """A folder for what is read and compared, gone when the block ends."""
    parent = settings.data_dir / "replays"
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="at-", dir=parent) as folder:
        yield Path(folder)


def code_on_disk(folder: Path, edits: snapshot.Edits = snapshot.NONE) -> Path:
    """A copy of the code as it is on disk, with these edits."""
    code = folder / "code"
    snapshot.take(root(), code, edits)
    return code


def run(settings: Settings, pipeline: str, code: Path, span: Span, folder: Path) -> dict[str, Path]:
    """Every view's rows over a part of the log, by this copy of the code: view → Parquet folder.

    Raises BatchFailed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    span.write(folder)
    log = folder / "log"
    with log.open("wb") as said, screen.waiting(pipeline, "reading the log") as wait:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.common.bounded", pipeline, str(folder)],
            cwd=code,
            env=environment(settings, code),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
        )

        def ended() -> bool:
            wait.show(pipeline, "reading the log in one batch")
            return process.poll() is not None

        try:
            if not until(ended, BATCH_SECONDS_MAX) or process.returncode != 0:
                raise BatchFailed(pipeline, log)
        finally:
            process.kill()
            process.wait()
    return {file.stem: file for file in folder.glob("*.parquet")}
