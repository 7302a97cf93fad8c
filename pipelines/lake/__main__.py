"""The lake's process: `python -m pipelines.lake`; with `--once` it ends at the log's end.

It has its own engine. A kill at any time does no harm: each table continues from its last commit.
"""

import logging
import signal
import sys
import time
from collections.abc import Callable
from threading import Event

from infra.errors import UserError
from infra.logs import set_up_logging
from infra.settings import LAKE, read_settings
from ops.generations import lease
from pipelines.engine.process import give_way
from pipelines.engine.session import get_engine
from pipelines.engine.tuning.options import create_heap
from pipelines.lake.quality.beside import Checker
from pipelines.lake.session import OLD_MIB_MIN, start_lake_session
from pipelines.lake.tables import locate_lake
from pipelines.lake.work import Work

log = logging.getLogger("lake")

EVERY_SECONDS = 60.0
"""The seconds between the starts of two batches. Each batch leaves a file in each table that it
changes."""


def main() -> None:
    set_up_logging("lake")
    give_way()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    once = "--once" in sys.argv[1:]
    settings = read_settings()
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: sys.exit())
    tables, home = locate_lake(settings), settings.data_dir / LAKE
    home.mkdir(parents=True, exist_ok=True)
    with lease.take(home) as taken:
        spark = start_lake_session(settings)
        lease.record_engine(taken, get_engine(spark).pid)
        checker, heap = Checker(settings), create_heap(spark, settings, OLD_MIB_MIN)

        def look() -> None:
            checker.look()
            if heap is not None:
                heap.look()

        try:
            work(Work(spark, settings, tables), once, look)
        finally:
            checker.stop()
            get_engine(spark).kill()  # at any point: a kill is its only way to end


def work(tables: Work, once: bool, look: Callable[[], None]) -> None:
    """Run batches, without a pause while the log has more: `once` until the log's end, else for
    ever, with a `look` after each at what is due besides.
    """
    pause = Event()
    while True:
        begun = time.monotonic()
        left = tables.batch()
        if not left and once:
            tables.tidy()
            return
        if not once:
            look()
        if not left:
            pause.wait(max(0.0, EVERY_SECONDS - (time.monotonic() - begun)))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
