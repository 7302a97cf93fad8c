"""A copy of the contracts that a test may change, and what the check says of it."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from contracts import loader
from contracts.evolution.check import Report, check

HERE = Path(loader.__file__).parent
TODAY = date(2026, 11, 26)
PARTS = ("topics", "views", "consumers", "released")

RECEIPT = "topics/sales/receipt.v1.yaml"
SHIPMENT = "topics/logistics/shipment.v1.yaml"
ADJUSTMENT = "topics/inventory/adjustment.v1.yaml"
QUARANTINE = "topics/quarantine/record.v1.yaml"
STOCK_LEVEL = "views/inventory/stock-level.v1.yaml"
INVENTORY = "consumers/inventory.yaml"
LOYALTY = "consumers/loyalty.yaml"

Edit = tuple[str, str]
"""The old text and the new one: replaced everywhere in the file."""


def copy_contracts(folder: Path) -> Path:
    for part in PARTS:
        shutil.copytree(HERE / part, folder / part)
    shutil.copyfile(HERE / "schemas.lock.json", folder / "schemas.lock.json")
    return folder


def edit(folder: Path, edits: Mapping[str, Sequence[Edit]]) -> Path:
    for name, pairs in edits.items():
        file = folder / name
        text = file.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text, f"{name} does not hold {old!r}"
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    return folder


def check_contracts(folder: Path) -> Report:
    return check(folder, TODAY)
