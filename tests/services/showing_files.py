"""What the API reads from files, beside the small shop: a lake, a report, Data Docs."""

import json
from pathlib import Path

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from infra.folder import Folder
from infra.lake import Folders
from infra.reports import VERDICTS, find_difference
from services.api.routes import examples
from tests.services.showing import SHELF
from tests.services.silver import Silver
from tests.services.world import find_minute


def fill_folder(home: Path) -> None:
    """Put beside the shop what the API reads from files: a lake, a report, Data Docs."""
    fill_lake(home)
    write_report(home)
    write_data_docs(home)


def fill_lake(folder: Path) -> None:
    """What moved one shelf in the morning, which was empty for half an hour."""
    silver = Silver(Folders(Folder(str(folder / "lake"))))
    shelf = {"store_id": SHELF[0]}
    silver.put(
        ADJUSTMENTS,
        event_time=find_minute(-90),
        event_id="opening",
        units=12,
        sku=SHELF[1],
        **shelf,
    )
    for at, units in ((-80, 5), (-60, 7)):
        lines = [{"sku": SHELF[1], "units": units, "unit_price_cents": 179}]
        silver.put(
            RECEIPTS, event_time=find_minute(at), event_id=f"sale-{at}", lines=lines, **shelf
        )
    back = [{"sku": SHELF[1], "units": 2, "unit_price_cents": 179}]
    silver.put(REFUNDS, event_time=find_minute(-20), event_id="back", lines=back, **shelf)
    for at, status, units in ((-70, "dispatched", 0), (-30, "received", 24)):
        lines = [{"sku": SHELF[1], "dispatched_units": 24, "received_units": units}]
        silver.put(
            SHIPMENTS,
            event_time=find_minute(at),
            event_id=status,
            status=status,
            lines=lines,
            **shelf,
        )


def write_data_docs(folder: Path) -> None:
    """What `make quality` leaves: its verdicts, and a page of Great Expectations."""
    docs = folder / "quality"
    page = docs / "validations" / "sales-receipt-v1 events" / "one.html"
    page.parent.mkdir(parents=True)
    head = '<html lang="en"><head><title>Events</title></head>'
    page.write_text(f"<!doctype html>{head}<body><p>21 expectations</p></body></html>")
    (docs / "index.html").write_text("<!doctype html><title>All</title>")
    verdict = {"version": 1_204, "expectations": 21, "failed": []}
    tables = [
        {**verdict, "table": "bronze", "suite": "records of each partition"},
        {**verdict, "table": "sales.receipt.v1", "suite": "events", "failed": ["units: [-1]"]},
    ]
    summary = {"checked_at": "2026-03-02T12:00:00.000Z", "not_compared": "", "tables": tables}
    (docs / VERDICTS).write_text(json.dumps(summary))


def write_report(folder: Path) -> None:
    """The difference between the promoted generation of fraud and its candidate."""
    file = find_difference(folder / "reports", "fraud", 2, 3)
    file.parent.mkdir(parents=True)
    report = examples.DIFFERENCE["difference"]
    file.write_text(json.dumps({**report, "before": "generation 2", "after": "generation 3"}))
