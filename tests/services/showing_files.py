"""What the API reads from files, beside the small shop: a lake, a report."""

import json
from pathlib import Path
from typing import Any

from contracts import ADJUSTMENTS, ALERTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract
from infra.folder import Folder
from infra.lake import Folders
from infra.reports import find_difference
from tests.services.showing import SHELF
from tests.services.silver import Silver
from tests.services.world import find_minute

REPORT = {
    "pipeline": "fraud",
    "before": "generation 2",
    "after": "generation 3",
    "position": "marker 812",
    "records": 40_620,
    "views": [
        {
            "view": ALERTS.name,
            "before": 12,
            "after": 14,
            "added": 2,
            "removed": 0,
            "changed": 0,
            "totals": [{"field": "events", "before": 70, "after": 78}],
            "facets": [{"field": "rule", "value": "card-velocity", "before": 3, "after": 5}],
            "largest": [
                {
                    "key": {"rule": "card-velocity", "subject": "tok_9a31"},
                    "name": "card-velocity/tok_9a31",
                    "kind": "new",
                    "words": ["measured 4", "threshold 3"],
                    "before": {},
                    "after": {"measured": 4, "threshold": 3},
                }
            ],
        }
    ],
    "changes": {
        "thresholds": [{"name": "card_sales_per_window_max", "before": 5, "after": 3}],
        "files": ["pipelines/fraud/thresholds.py"],
    },
    "empty": False,
}


def fill_folder(home: Path) -> None:
    """A report, and a lake: what moved one shelf in the morning, empty for half an hour."""
    write_report(home)
    silver = Silver(Folders(Folder(str(home / "lake"))))

    def put(topic: Contract, minute: int, event_id: str, **fields: Any) -> None:
        moment, store = find_minute(minute), SHELF[0]
        silver.put(topic, event_time=moment, event_id=event_id, store_id=store, **fields)

    sku = {"sku": SHELF[1]}
    put(ADJUSTMENTS, -90, "opening", units=12, **sku)
    for minute, units in ((-80, 5), (-60, 7)):
        put(
            RECEIPTS,
            minute,
            f"sale-{minute}",
            lines=[{**sku, "units": units, "unit_price_cents": 179}],
        )
    put(REFUNDS, -20, "back", lines=[{**sku, "units": 2, "unit_price_cents": 179}])
    for minute, status, units in ((-70, "dispatched", 0), (-30, "received", 24)):
        lines = [{**sku, "dispatched_units": 24, "received_units": units}]
        put(SHIPMENTS, minute, status, status=status, lines=lines)


def write_report(folder: Path) -> None:
    """The difference between the promoted generation of fraud and its candidate."""
    file = find_difference(folder / "reports", "fraud", 2, 3)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(REPORT))
