"""One import, from files to the log: read, compare with the log, announce, publish."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import duckdb

from contracts import ADJUSTMENTS, PRICE_CHANGES, PRODUCTS, RECEIPTS, REFUNDS, STORES
from contracts.times import to_instant
from generators.importing.events import Refused, announce_catalog, issue_events, refuse_unplaced
from generators.importing.files import list_files
from generators.importing.mapping import Mapping
from generators.importing.publishing import Imported, Known, Run, Sender, load_known_ids
from generators.importing.reading import open_scratch, read_lines
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


@dataclass(frozen=True)
class Watch:
    """Callbacks for the steps, the progress and the refusals of an import."""

    step: Callable[[str], None]
    progress: Callable[[Imported], None]
    refused: Callable[[Refused], None]


@dataclass(frozen=True)
class Done:
    """An import that has ended."""

    rows: int
    imported: Imported


class Silent:
    """The clock of a dry run."""

    def beat(self, world_ms: int) -> None:
        """Do nothing: a dry run publishes no time."""

    def stand(self, world_ms: int) -> None:
        """Do nothing, likewise."""


def run_import(
    settings: Settings,
    mapping: Mapping,
    paths: Sequence[Path],
    watch: Watch,
    *,
    dry: bool = False,
    until_ms: int | None = None,
) -> Done:
    """Publish the files' events that the log lacks; `dry`: only report them.

    A dry run needs no broker. Raises UserError where a person has to decide. After an interruption
    the same command continues.
    """
    files = list_files(paths)
    online = is_answering(settings)
    if not dry and not online:
        raise KafkaDown(settings.bootstrap_servers)
    home = settings.data_dir / IMPORTS
    advice = "Wait for it to end, then try again."
    with (
        lock_publishing(settings.data_dir),
        lock_folder(home, LockHeld("import", f"set the time of {settings.data_dir}", advice)),
        _clean(settings.data_dir),
        TemporaryDirectory(prefix=IMPORTING, dir=home) as scratch,
        closing(open_scratch(Path(scratch))) as engine,
    ):
        rows = read_lines(engine, mapping, files, watch.step)
        first_ms = _find_first_ms(engine)
        begins_ms = _find_begin_ms(settings, first_ms, dry=dry)
        beaten = (read_heartbeat_ms(settings) if online else None) or begins_ms - HOUR_MS
        watch.step("looking what is in the log")
        _look(engine, settings, first_ms, beaten, online=online)
        with _open_sender(settings, watch, dry=dry) as sender:
            run = Run(sender, Known(engine), beaten)
            run.announce(
                announce_catalog(engine, mapping, max(beaten, first_ms - HOUR_MS), first_ms)
            )
            run.publish(chain(refuse_unplaced(engine), issue_events(engine, mapping)))
            return Done(rows, run.finish(until_ms))


@contextmanager
def _clean(home: Path) -> Iterator[None]:
    """Remove the scratch folders of killed imports first."""
    for left in list_importing(home):
        rmtree(left)
    yield


def _find_first_ms(engine: duckdb.DuckDBPyConnection) -> int:
    found = engine.execute("select min(issued) from receipts where fault is null").fetchone()
    if found is None or found[0] is None:
        raise UserError(
            "The files should hold at least one row with a time, a store and a sku, but hold none. "
            "See which columns they have, and check the mapping: retail import --draft FILE"
        )
    return int(found[0])


def _find_begin_ms(settings: Settings, first_ms: int, *, dry: bool) -> int:
    if settings.world == "own" and settings.begins_ms is not None:
        return settings.begins_ms
    if not dry:
        instant = to_instant(first_ms)
        first = f"{instant:%Y-%m-%d}" if instant else str(first_ms)
        raise UserError(
            "An import needs a world whose time follows the imported events, but here a simulator "
            f"or the wall clock tells the time. The files begin on {first}. Start a shop for them: "
            f"make reset, then make up WORLD=own WORLD_BEGINS={first}"
        )
    return first_ms


def _look(
    engine: duckdb.DuckDBPyConnection,
    settings: Settings,
    first_ms: int,
    beaten: int,
    *,
    online: bool,
) -> None:
    """Load the ids in the log; of sales, only those from the files' first sale on."""
    if not online:
        engine.execute("create table known (event_id varchar)")
        return
    refuse_other(settings)
    load_known_ids(engine, settings, (*ANNOUNCED, *SALES), dict.fromkeys(SALES, first_ms))


@contextmanager
def _open_sender(settings: Settings, watch: Watch, *, dry: bool) -> Iterator[Sender]:
    if dry:
        yield Sender(lambda records: None, Silent(), watch.progress, watch.refused)
        return
    client = create_producer(settings, linger_ms=SEND_LINGER_MS)
    yield Sender(
        lambda records: send_all(client, records),
        Timekeeper(settings),
        watch.progress,
        watch.refused,
        open_edge(settings),
    )
