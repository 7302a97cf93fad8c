"""Changes that harm nobody: the check lets them pass, and a release gives them a version."""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import pytest

from contracts.evolution.new import create_contract
from contracts.evolution.release import release
from tests.contracts.evolution.editing import (
    HERE,
    LOYALTY,
    QUARANTINE,
    RECEIPT,
    TODAY,
    check_contracts,
    copy_contracts,
    edit,
)

TILL = "        examples: [S003-R2]\n"
NOTE = """      - name: note
        description: What the cashier wrote on it.
        logicalType: string
        required: false
        logicalTypeOptions: {maxLength: 200}
        examples: [broken box]
"""
NOTE_EXAMPLE = (
    "            register_id: S003-R2\n",
    "            register_id: S003-R2\n            note: broken box\n",
)
NOTE_INVALID = (
    "          - {breaks: register_id has a length of at least 1",
    "          - {breaks: note has a length of at most 200, repeat: {note: 201}}\n"
    "          - {breaks: register_id has a length of at least 1",
)
CARD = """name: shelf-labels
kind: external
domain: stores
owner: the company that hangs the labels
description: Shows prices on the shelves.
reads:
  public.pricing.price-change.v1: {for: The price., fields: [sku, price_cents, effective_at]}
"""


def change(name: str, *pairs: tuple[str, str]) -> Callable[[Path], object]:
    return lambda folder: edit(folder, {name: pairs})


def create(folder: Path, name: str, sunset: date | None) -> Path:
    """A new contract, which the simulator writes."""
    create_contract(folder, name, "topic", sunset)
    return edit(folder, {"consumers/simulator.yaml": [("writes:\n", f"writes:\n  - {name}\n")]})


def create_successor(folder: Path) -> None:
    create(folder, "public.sales.receipt.v2", TODAY.replace(year=2027))
    change("topics/sales/receipt.v2.yaml", ("unit, value: cents", "unit, value: dollars"))(folder)


HARMLESS: Mapping[str, Callable[[Path], object]] = {
    "nothing at all": lambda folder: folder,
    "an optional field": change(RECEIPT, (TILL, TILL + NOTE), NOTE_EXAMPLE, NOTE_INVALID),
    "a better description": change(RECEIPT, ("Who sat at the till.", "The cashier at the till.")),
    "a new consumer": lambda folder: (folder / "consumers/shelf-labels.yaml").write_text(CARD),
    "a consumer remembers more than the horizon": change(LOYALTY, ("late: 2 h", "late: 1 d")),
    "a private topic is opened to one more reader": change(
        QUARANTINE, ("value: [api, verify]", "value: [api, verify, lake]")
    ),
    "a new topic with a writer": lambda folder: create(folder, "public.sales.exchange.v1", None),
    "a new major version beside the old one": create_successor,
}


@pytest.mark.parametrize("name", HARMLESS)
def test_it_passes_and_is_released(name: str, tmp_path: Path) -> None:
    HARMLESS[name](copy_contracts(tmp_path))
    report = check_contracts(tmp_path)
    assert (report.faults, report.breaks) == ((), ())
    release(tmp_path, TODAY)
    after = check_contracts(tmp_path)
    assert after.good
    assert (after.pending, after.harmless) == ((), ())


def test_a_field_more_is_a_minor_version_with_an_id_and_better_words_are_a_patch(
    tmp_path: Path,
) -> None:
    lock = copy_contracts(tmp_path) / "schemas.lock.json"
    before = lock.read_text().splitlines()
    HARMLESS["an optional field"](tmp_path)
    release(tmp_path, TODAY)
    *same, added, _ = lock.read_text().splitlines()
    assert [*same[:-1], same[-1].removesuffix(","), "]"] == before
    assert '"topic":"public.sales.receipt.v1"' in added
    HARMLESS["a better description"](tmp_path)
    release(tmp_path, TODAY)
    versions = sorted((tmp_path / "released/topics/sales/receipt.v1").glob("*.yaml"))
    assert [file.stem for file in versions[-2:]] == ["1.4.0", "1.4.1"]
    assert "version: 1.4.1\n" in (tmp_path / RECEIPT).read_text()


def test_a_contract_may_go_after_its_sunset(tmp_path: Path) -> None:
    HARMLESS["a new major version beside the old one"](copy_contracts(tmp_path))
    release(tmp_path, TODAY)
    for file in (tmp_path / "consumers").glob("*.yaml"):
        text = file.read_text().replace("  - public.sales.receipt.v2\n", "")
        file.write_text(text.replace("public.sales.receipt.v1", "public.sales.receipt.v2"))
    edit(tmp_path, {LOYALTY: [('unit_price_cents": cents', 'unit_price_cents": dollars')]})
    (tmp_path / RECEIPT).unlink()
    [found] = check_contracts(tmp_path).breaks
    assert found.change.place == "the contract"


def test_every_contract_of_this_repository_is_released_as_it_stands() -> None:
    report = check_contracts(HERE)
    assert report.good, (report.faults, report.breaks)
    assert not report.pending, "release them: retail contracts release"
