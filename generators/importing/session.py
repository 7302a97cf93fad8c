"""One import, from files to the log: read, compare with the log, announce, publish."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import duckdb

from contracts import ADJUSTMENTS, PRICE_CHANGES, PRODUCTS, RECEIPTS, REFUNDS, STORES
from contracts.times import to_instant
from generators.importing.account import draw_up, keep_rejected, write_refused
from generators.importing.engine import keep, open_scratch
from generators.importing.events import announce_catalog, issue_events, refuse_unplaced
from generators.importing.files import list_files
from generators.importing.mapping import Mapping
from generators.importing.publishing import KNOWN, Imported, Run, Target, Watch, load_known_ids
from generators.importing.reading import read_lines
from generators.own_clock import Timekeeper, read_heartbeat_ms, refuse_other
from generators.ticks import HOUR_MS
from infra.errors import UserError
from infra.identities import open_edge
from infra.kafka import KafkaDown, create_producer, is_answering, send_all
from infra.lock import LockHeld, lock_folder
from infra.scratch import IMPORTING, IMPORTS, list_importing, lock_publishing
from infra.settings import Settings

SEND_LINGER_MS = 50  # flushed at once; meanwhile batches grow
SALES = (RECEIPTS.name, REFUNDS.name)
ANNOUNCED = (ADJUSTMENTS.name, PRICE_CHANGES.name, PRODUCTS.name, STORES.name)


def run_import(
    settings: Settings,
    mapping: Mapping,
    paths: Sequence[Path],
    watch: Watch,
    *,
    dry: bool = False,
    until_ms: int | None = None,
    mend: Path | None = None,
) -> Imported:
    """Publish the files' events that the log lacks; `dry`: only report them.

    `mend`: the file for refused rows; with pseudonyms there is none, since rows name people. A dry
    run needs no broker. Raises UserError where a person has to decide. After an interruption the
    same command continues.
    """
    files = list_files(paths)
    online = is_answering(settings)
    if not dry and not online:
        raise KafkaDown(settings.bootstrap_servers)
    home = settings.data_dir / IMPORTS
    advice = "Wait for it to end, then try again."
    held = LockHeld("import", f"set the time of {settings.data_dir}", advice)
    with lock_publishing(settings.data_dir), lock_folder(home, held):
        for left in list_importing(settings.data_dir):  # of killed imports
            rmtree(left)
        with (
            TemporaryDirectory(prefix=IMPORTING, dir=home) as scratch,
            closing(open_scratch(Path(scratch))) as engine,
        ):
            rows = read_lines(engine, mapping, files, watch.step)
            first_ms = _find_first_ms(engine)
            begins_ms = _find_begin_ms(settings, first_ms, dry=dry)
            beaten_ms = (read_heartbeat_ms(settings) if online else None) or begins_ms - HOUR_MS
            watch.step("looking what is in the log")
            if online:  # of sales, only those from the files' first sale on
                refuse_other(settings)
                since = dict.fromkeys(SALES, first_ms)
                load_known_ids(engine, settings, (*ANNOUNCED, *SALES), since)
            else:
                keep(engine, "known", (), KNOWN)
            target = Target() if dry else _open_log(settings)
            run = Run(engine, target, watch, beaten_ms, rows)
            announced_ms = max(beaten_ms, first_ms - HOUR_MS)
            run.announce(announce_catalog(engine, mapping, announced_ms, first_ms))
            run.publish(chain(refuse_unplaced(engine), issue_events(engine, mapping)))
            imported = run.finish(until_ms)
            watch.step("drawing up the account")
            keep_rejected(engine, imported.rejected)
            imported.account = draw_up(engine, mapping)
            if mend is not None and not settings.pseudonyms:  # the rows name people
                write_refused(engine, mapping, mend)
            return imported


def _find_first_ms(engine: duckdb.DuckDBPyConnection) -> int:
    found = engine.execute("select min(issued) from lines where receipt_fault is null").fetchone()
    if found is None or found[0] is None:
        raise UserError(
            "The files should hold at least one row with a time, a store and a sku, but hold none. "
            "See which columns they have, and check the mapping: retail import --draft FILE"
        )
    return int(found[0])


def _find_begin_ms(settings: Settings, first_ms: int, *, dry: bool) -> int:
    if settings.begins_ms is not None:
        return settings.begins_ms
    if not dry:
        instant = to_instant(first_ms)
        first = f"{instant:%Y-%m-%d}" if instant else str(first_ms)
        raise UserError(
            "An import needs a world whose time follows the imported events, but here a simulator "
            f"or the wall clock tells the time. The files begin on {first}. Start a shop for them: "
            f"make reset, then make up WORLD={first}"
        )
    return first_ms


def _open_log(settings: Settings) -> Target:
    send = partial(send_all, create_producer(settings, linger_ms=SEND_LINGER_MS))
    timekeeper = Timekeeper(settings)
    return Target(send, timekeeper.beat, timekeeper.stand, open_edge(settings))
