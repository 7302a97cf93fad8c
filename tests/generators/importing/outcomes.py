"""What comes of small files and a mapping, in the figures that a shopkeeper would compare."""

from collections import Counter
from collections.abc import Mapping as Texts
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from contracts import ADJUSTMENTS, PRODUCTS, RECEIPTS, REFUNDS
from contracts.times import to_instant
from generators.importing.account import draw_up, keep_rejected, write_refused
from generators.importing.events import Issued, Refused, announce_catalog, to_outgoing
from generators.importing.files import list_files
from generators.importing.mapping import Mapping
from tests.generators.importing.sales import list_outcomes, load_lines

Event = dict[str, Any]

PLAIN = """
time: {column: When, zone: UTC}
receipt: {by: [Receipt]}
fields: {sku: Article, units: Qty, unit_price: Price, store: Shop}
money: {currency: EUR}
"""
HEAD = "Receipt,When,Shop,Article,Qty,Price\n"
ROW = "1,2024-03-01 09:00,LEEDS,A-1,2,4.50\n"


@dataclass
class Outcome:
    receipts: list[Event] = field(default_factory=list)
    refunds: list[Event] = field(default_factory=list)
    adjustments: list[Event] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    account: dict[str, Any] = field(default_factory=dict)
    to_mend: str = ""

    @property
    def reasons(self) -> dict[int, str]:
        return {refusal.row: refusal.reasons[0] for refusal in self.refused}

    @property
    def times(self) -> list[str]:
        return sorted(render(event) for event in self.receipts)

    @property
    def customers(self) -> set[str]:
        return {event["customer_id"] for event in self.receipts if "customer_id" in event}

    @property
    def ids(self) -> list[str]:
        return [event["event_id"] for event in (*self.receipts, *self.refunds, *self.adjustments)]


def render(event: Event) -> str:
    return f"{to_instant(event['event_time']):%Y-%m-%dT%H:%M:%SZ}"


def units(events: list[Event]) -> dict[str, int]:
    """By store and sku."""
    counts: Counter[str] = Counter()
    for event in events:
        for line in event.get("lines", [event]):
            counts[f"{event['store_id']}/{line['sku']}"] += line["units"]
    return dict(counts)


def cents(events: list[Event]) -> int:
    return sum(
        line["units"] * line["unit_price_cents"] for event in events for line in event["lines"]
    )


def write_files(folder: Path, files: Texts[str, str | bytes]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def bring_in(folder: Path, text: str, *names: str, **files: str | bytes) -> Outcome:
    """The outcome of a mapping and files of the folder. Files may be given as content."""
    write_files(folder, files)
    mapping = Mapping.model_validate(yaml.safe_load(text))
    paths = [folder / name for name in (*names, *files)]
    with TemporaryDirectory() as scratch, load_lines(mapping, *list_files(paths)) as engine:
        found = Outcome()
        for event in list_outcomes(engine, mapping):
            _sort_in(found, event)
        for issued in announce_catalog(engine, mapping, 1, 2):
            if issued.contract is PRODUCTS:
                found.names[issued.event["sku"]] = issued.event["name"]
        keep_rejected(engine, [(refusal.event_id, refusal.reasons[0]) for refusal in found.refused])
        found.account = draw_up(engine, mapping)
        write_refused(engine, mapping, mended := Path(scratch) / "refused.csv")
        found.to_mend = mended.read_text() if mended.exists() else ""
    return found


def _sort_in(found: Outcome, event: Issued | Refused) -> None:
    if isinstance(event, Issued):
        sent = to_outgoing(event, event.at_ms)
        if not isinstance(sent, Refused):
            by_contract = {
                RECEIPTS: found.receipts,
                REFUNDS: found.refunds,
                ADJUSTMENTS: found.adjustments,
            }
            by_contract[event.contract].append(event.event)
            return
        event = sent
    found.refused.append(event)
