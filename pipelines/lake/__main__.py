"""The lake's process: `python -m pipelines.lake`; with `--once` it ends at the log's end.

A kill at any time does no harm: each table continues from its last commit.
"""

import logging
import signal
import sys
import time
from threading import Event

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import LAKE, Settings, read_settings
from ops.generations import lease
from pipelines.engine.process import give_way
from pipelines.lake.quality.beside import Checker
from pipelines.lake.tables import Lake, locate_lake
from pipelines.lake.work import run_batch

log = logging.getLogger("lake")

EVERY_SECONDS = 60.0
"""The seconds between the starts of two batches. Each batch leaves a file in each table that it
changes."""


def main() -> None:
    set_up_logging("lake")
    give_way()
    settings = read_settings()
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: sys.exit())
    lake, home = locate_lake(settings), settings.data_dir / LAKE
    home.mkdir(parents=True, exist_ok=True)
    with lease.take(home):
        for table in lake.tables:
            table.make()
        if "--once" in sys.argv[1:]:
            fill(settings, lake)
        else:
            run(settings, lake)


def fill(settings: Settings, lake: Lake) -> None:
    """Run batches until the log's end."""
    while run_batch(settings, lake):
        pass
    for table in lake.tables:
        table.tidy()


def run(settings: Settings, lake: Lake) -> None:
    """Run batches for ever, without a pause while the log has more, and the checks beside them."""
    checker, pause = Checker(settings), Event()
    try:
        while True:
            begun = time.monotonic()
            left = run_batch(settings, lake)
            checker.look()
            if not left:
                pause.wait(max(0.0, EVERY_SECONDS - (time.monotonic() - begun)))
    finally:
        checker.stop()


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
