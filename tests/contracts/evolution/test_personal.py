"""A field that names a person says what for and how long, or the check says what is missing."""

from dataclasses import replace
from pathlib import Path

from contracts import CONTRACTS, RECEIPTS, VISITS, Contract
from contracts.evolution.personal import find_mistakes
from contracts.shape import Personal
from tests.contracts.evolution.editing import RECEIPT, check_contracts, copy_contracts, edit


def change_personal(contract: Contract, name: str, personal: Personal | None) -> Contract:
    """The contract with other words, or none, about one of its fields."""
    others = (field for field in contract.fields if field.name != name)
    [changed] = [
        replace(field, personal=personal) for field in contract.fields if field.name == name
    ]
    return replace(contract, fields=(changed, *others))


def find_faults(*changed: Contract) -> list[str]:
    return list(find_mistakes({**CONTRACTS, **{contract.name: contract for contract in changed}}))


def test_what_is_personal_elsewhere_is_so_here() -> None:
    [fault] = find_faults(change_personal(RECEIPTS, "card_token", None))
    assert fault == (
        "public.sales.receipt.v1: field card_token: expected classification: personal, as in "
        "public.sales.refund.v1, found none. Classify it, or rename it if it names nobody"
    )


def test_a_private_topic_need_not_say_it_but_nobody_says_anything_wrong() -> None:
    private = replace(RECEIPTS, visibility="private")
    assert find_faults(change_personal(private, "card_token", Personal(None, None))) == []
    [fault] = find_faults(change_personal(private, "card_token", Personal(None, "30 d")))
    assert "expected the retention for ever" in fault
    [fault] = find_faults(change_personal(VISITS, "customer_id", Personal("Visits.", "30 d")))
    assert "expected the retention newest per key" in fault


def test_the_check_names_everything_that_is_missing_at_once(tmp_path: Path) -> None:
    said = """        customProperties:
          - property: purpose
            value: Visits are counted and points given by customer; the fraud rules know who buys
              in bulk.
          - {property: retention, value: for ever}
"""
    kept = "places.\n          - {property: retention, value: for ever}\n"
    changed = {RECEIPT: [(said, ""), (kept, kept.replace("for ever", "1 d"))]}
    report = check_contracts(edit(copy_contracts(tmp_path), changed))
    assert not report.good
    assert [fault.split(". ")[0] for fault in report.faults] == [
        "public.sales.receipt.v1: field card_token: expected the retention for ever, since so the "
        "topic keeps its records, found 1 d",
        "public.sales.receipt.v1: field customer_id: it is personal and the topic is public: "
        "expected a purpose, found none",
        "public.sales.receipt.v1: field customer_id: it is personal and the topic is public: "
        "expected a retention, found none",
    ]
