"""Changes of a contract: each that breaks somebody is found, with whom it breaks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from contracts import (
    CLOCKS,
    CONTRACTS,
    QUARANTINE,
    RECEIPTS,
    SHIPMENTS,
    STOCK_LEVELS,
    Contract,
    Field,
)
from contracts.consumer import CONSUMERS
from contracts.evolution.released import load_released
from contracts.evolution.verdict import Finding, list_findings
from contracts.projection import parse_path
from contracts.shape import Personal
from tests.contracts.evolution.editing import HERE, TODAY

RELEASED, _ = load_released(HERE)
PUBLIC = [
    contract
    for name, contract in CONTRACTS.items()
    if contract.visibility == "public" and name in RELEASED
]

Change = Callable[[Contract], Contract]


def find_breaks(mutant: Contract) -> list[Finding]:
    before = {mutant.name: RELEASED[mutant.name]}
    found = list_findings({mutant.name: mutant}, before, CONSUMERS, TODAY)
    return [finding for finding in found if finding.breaks]


def alter(
    fields: Sequence[Field], path: Sequence[str], change: Callable[[Field], Sequence[Field]]
) -> tuple[Field, ...]:
    """The fields, with others in place of the one at the path."""
    head, *rest = path
    altered: list[Field] = []
    for field in fields:
        if field.name != head:
            altered.append(field)
        elif rest:
            altered.append(replace(field, fields=alter(field.fields, rest, change)))
        else:
            altered += change(field)
    return tuple(altered)


def change_field(place: str, **values: Any) -> Change:
    return alter_at(parse_path(place), lambda field: [replace(field, **values)])


def drop(name: str) -> Change:
    return alter_at([name], lambda _: [])


def alter_at(path: Sequence[str], change: Callable[[Field], Sequence[Field]]) -> Change:
    return lambda contract: replace(contract, fields=alter(contract.fields, path, change))


def add_required(name: str) -> Change:
    added = Field(name, "string", required=True, description="New.")
    return lambda contract: replace(contract, fields=(*contract.fields, added))


def add_to_lines(contract: Contract) -> Contract:
    discount = Field("discount_cents", "int", required=False, description="New.", unit="cents")
    [lines] = [field for field in contract.fields if field.name == "lines"]
    return change_field("lines", fields=(*lines.fields, discount))(contract)


def limit(rule: str, limit: Any) -> Change:
    def change(contract: Contract) -> Contract:
        [changed] = [each for each in contract.rules if each.name == rule]
        others = (each for each in contract.rules if each is not changed)
        return replace(contract, rules=(*others, replace(changed, limit=limit)))

    return change


def configure(name: str, value: str) -> Change:
    return lambda contract: replace(
        contract,
        settings=replace(contract.settings, config={**contract.settings.config, name: value}),
    )


def term(**values: Any) -> Change:
    return lambda contract: replace(contract, **values)


class Break(NamedTuple):
    """What is changed, what the finding says, and who breaks by it."""

    of: Contract
    change: Change
    place: str
    text: str
    readers: Sequence[str] = ()
    not_readers: Sequence[str] = ()
    writers: Sequence[str] = ()


PRICE = "lines[].unit_price_cents"
LOST = ("dispatched", "received", "lost")
MORE_PARTITIONS = replace(RECEIPTS.settings, partitions=8)
# fmt: off
BREAKS: Mapping[str, Break] = {
    "a field that nobody known reads is dropped": Break(
        RECEIPTS, drop("register_id"), "register_id", "removed (string)",
        ["quarantine"], ["inventory", "loyalty"]),
    "a price is no longer per a measure": Break(
        RECEIPTS, change_field(PRICE, per=None), PRICE, "per measure → per piece always",
        ["loyalty", "visits"], ["inventory"]),
    "a required field is added": Break(
        RECEIPTS, add_required("shift_id"), "shift_id", "added (required string)"),
    "a required field may be absent": Break(
        RECEIPTS, change_field("register_id", required=False), "register_id",
        "required → optional", ["quarantine"], ["loyalty"]),
    "an optional field must be there": Break(
        RECEIPTS, change_field("customer_id", required=True), "customer_id",
        "optional → required", ["loyalty"], ["inventory"]),
    "an array's item is renamed": Break(
        RECEIPTS, change_field("lines", item="item"), "lines",
        "an item is called line → item", ["inventory", "loyalty"]),
    "a value of an enum is added": Break(
        SHIPMENTS, limit("status is one of dispatched, received", LOST), "status",
        "is one of dispatched, received, lost", ["inventory"]),
    "a rule is tightened": Break(
        RECEIPTS, limit("lines[].units is at most 1000000", 100), "lines[].units",
        "is at most 1000000 → is at most 100", (), ["inventory", "loyalty"], ["simulator", "api"]),
    "an id becomes longer": Break(
        RECEIPTS, limit("event_id has a length of at most 64", 65), "event_id",
        "a length of at most 65", ["inventory", "fraud"]),
    "the key is changed": Break(
        RECEIPTS, term(key=("register_id",)), "key", "store_id → register_id",
        ["inventory", "loyalty", "verify"]),
    "a topic gets more partitions": Break(
        RECEIPTS, term(settings=MORE_PARTITIONS), "partitions", "4 → 8",
        ["inventory"], ["loyalty"]),
    "what was kept for ever is kept for a week": Break(
        RECEIPTS, configure("retention.ms", "604800000"), "retention.ms", "for ever → 7 d",
        ["inventory", "loyalty"], ["quarantine"]),
    "events are compacted": Break(
        RECEIPTS, configure("cleanup.policy", "compact"), "cleanup.policy", "delete → compact",
        ["inventory", "loyalty"]),
    "rows are compacted at once": Break(
        STOCK_LEVELS, configure("min.compaction.lag.ms", "0"), "min.compaction.lag.ms",
        "600000 → 0", ["api"]),
    "the horizon is longer than readers remember": Break(
        RECEIPTS, term(horizon=timedelta(hours=3)), "horizon", "2 h → 3 h",
        ["inventory", "loyalty"], ["quarantine"]),
    "the horizon is shorter than writers need": Break(
        RECEIPTS, term(horizon=timedelta(hours=1)), "horizon", "2 h → 1 h",
        (), ["inventory"], ["simulator"]),
    "smaller records": Break(
        RECEIPTS, configure("max.message.bytes", "1000"), "max.message.bytes", "1048588 → 1000",
        (), ["inventory"], ["simulator"]),
    "a private topic takes a field from its reader": Break(
        CLOCKS, change_field("speed_milli", name="pace_milli"), "speed_milli", "removed",
        ["api", "simulator"], ["own-clock"]),
}
# fmt: on


@pytest.mark.parametrize("mistake", BREAKS)
def test_a_break_is_caught_with_whom_it_breaks(mistake: str) -> None:
    expected = BREAKS[mistake]
    breaks = find_breaks(expected.change(expected.of))
    at_place = [finding for finding in breaks if finding.change.place == expected.place]
    [found] = [finding for finding in at_place if expected.text in finding.change.text]
    assert set(expected.readers) <= set(found.readers_broken)
    assert set(expected.not_readers) <= set(found.readers_going_on)
    assert set(expected.writers) <= set(found.writers_broken)
    assert found.change.why
    assert "beside v1" in found.way_out


PERSONAL = Personal(None, None)
HARMLESS: Mapping[str, tuple[Contract, Change]] = {
    "an optional field within lines": (RECEIPTS, add_to_lines),
    "fields in another order": (
        RECEIPTS,
        lambda contract: replace(contract, fields=contract.fields[::-1]),
    ),
    "a field is found to be personal": (QUARANTINE, change_field("key", personal=PERSONAL)),
    "a limit is raised": (RECEIPTS, limit("lines has a length of at most 2000", 3000)),
    "larger records": (RECEIPTS, configure("max.message.bytes", "2097152")),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_change_that_harms_nobody_is_no_break(name: str) -> None:
    contract, change = HARMLESS[name]
    assert find_breaks(change(contract)) == []


def test_a_contract_that_is_removed_breaks_its_readers() -> None:
    [found] = list_findings({}, {RECEIPTS.name: RELEASED[RECEIPTS.name]}, CONSUMERS, TODAY)
    assert (found.breaks, found.change.place) == (True, "the contract")
    assert {"inventory", "loyalty"} <= set(found.readers_broken)


def create_mutants(contract: Contract) -> Iterator[tuple[str, Contract]]:
    """The contract with one thing otherwise, each time another."""
    for rule in contract.rules:
        if rule.kind != "required":  # that is the field's own
            others = tuple(each for each in contract.rules if each is not rule)
            yield f"rule {rule.name} dropped", replace(contract, rules=others)
    for field in contract.fields:
        for what, change in vary_field(field):
            yield f"{field.name} {what}", change(contract)
    partitions = contract.settings.partitions + 1
    yield "key", replace(contract, key=(*contract.key, "another"))
    settings = replace(contract.settings, partitions=partitions)
    yield "partitions", replace(contract, settings=settings)
    if contract.horizon is not None:
        yield "horizon", replace(contract, horizon=contract.horizon + timedelta(hours=1))


def vary_field(field: Field) -> Iterator[tuple[str, Change]]:
    yield "dropped", drop(field.name)
    yield "renamed", change_field(field.name, name=f"{field.name}_2")
    yield "required or not", change_field(field.name, required=not field.required)
    if not field.fields:
        yield "in another unit", change_field(field.name, unit="parsecs")
        kind = "long" if field.type != "long" else "string"
        yield "of another type", change_field(field.name, type=kind)


@pytest.mark.parametrize("contract", PUBLIC, ids=str)
def test_nothing_about_a_public_contract_can_be_changed_unseen(contract: Contract) -> None:
    assert find_breaks(contract) == []
    mutants = create_mutants(contract)
    unseen = [what for what, other in mutants if not find_breaks(other)]
    assert unseen == []


def test_spans_that_differ_by_a_second_in_two_weeks_differ() -> None:
    was, is_ = (replace(PUBLIC[0], retention=timedelta(seconds=s)) for s in (1_234_568, 1_234_567))
    found = list(list_findings({was.name: is_}, {was.name: (was,)}, CONSUMERS, TODAY))
    assert [finding.change.text for finding in found] == ["1234568 s → 1234567 s"]
