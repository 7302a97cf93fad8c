"""The price of every product at any moment, as a table, from silver."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, zip_longest
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from contracts import PRICE_CHANGES, holds_from
from infra.lake import Folders, read_coverage
from pipelines.lake.states import Row, StateTable

TABLE = "prices"
TYPES: Mapping[str, pa.DataType] = {
    "sku": pa.string(),
    "price_cents": pa.int32(),
    **dict.fromkeys(("effective_at", "holds_from", "holds_until"), pa.timestamp("us", "UTC")),
}
SCHEMA = pa.schema(TYPES)
COLUMNS = {
    **{name: pc.field(name) for name in ("sku", "price_cents", "_offset")},
    # As numbers: a calendar may not have them.
    **{name: pc.field(name).cast(pa.int64()) for name in ("effective_at", "_published")},
}
MICROSECONDS_MAX = 2**63 - 1


def refresh_prices(folders: Folders) -> None:
    """Bring the table up to silver, if that has new changes of prices."""
    table, silver = StateTable(folders.gold(TABLE), SCHEMA), folders.silver(PRICE_CHANGES)
    before, ends = read_coverage(table.folder), read_coverage(silver).ends
    if before.ends == ends or not table.is_due():
        return
    changes = DeltaTable(str(silver)).to_pyarrow_dataset().to_table(columns=COLUMNS)
    table.write(compute_intervals(changes.to_pylist()), before.then(ends))


def compute_intervals(changes: Iterable[Row]) -> Iterator[Row]:
    """The changes with `holds_from` and `holds_until`, times in microseconds of 1970.

    Of changes of a sku that hold from the same moment, the last one counts.
    """
    timed = [{**change, "holds_from": compute_start(change)} for change in changes]
    timed.sort(key=itemgetter("sku", "holds_from", "_offset"))
    for _, of_sku in groupby(timed, itemgetter("sku")):
        versions = [*{change["holds_from"]: change for change in of_sku}.values()]
        for version, following in zip_longest(versions, versions[1:]):
            yield {**version, "holds_until": following and following["holds_from"]}


def compute_start(change: Row) -> int:
    start_ms = holds_from(change["effective_at"] // 1000, change["_published"] // 1000)
    return min(start_ms * 1000, MICROSECONDS_MAX)
