"""Every change of a public contract is found, and every harmful one is a break."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from contracts import CONTRACTS, Contract, Field
from contracts.consumer import CONSUMERS
from contracts.evolution.released import load_released
from contracts.evolution.verdict import Finding, list_findings
from tests.contracts.evolution.editing import HERE, TODAY

RELEASED, _ = load_released(HERE)
PUBLIC = [one for name, one in CONTRACTS.items() if one.visibility == "public" and name in RELEASED]


def find_changes(mutant: Contract) -> list[Finding]:
    before = {mutant.name: RELEASED[mutant.name]}
    return list(list_findings({mutant.name: mutant}, before, CONSUMERS, TODAY))


def create_mutants(one: Contract) -> Iterator[tuple[str, Contract]]:
    """The contract with one thing otherwise, each time another."""
    for rule in one.rules:
        if rule.kind != "required":  # that is the field's own
            yield f"rule {rule.name} dropped", drop_rule(one, rule.name)
    for number, field in enumerate(one.fields):
        for what, other in vary_field(field):
            fields = (*one.fields[:number], *other, *one.fields[number + 1 :])
            yield f"{field.name} {what}", replace(one, fields=fields)
    yield "key", replace(one, key=(*one.key, "another"))
    yield (
        "partitions",
        replace(one, settings=replace(one.settings, partitions=one.settings.partitions + 1)),
    )
    if one.horizon is not None:
        yield "horizon", replace(one, horizon=one.horizon + timedelta(hours=1))


def drop_rule(one: Contract, rule: str) -> Contract:
    return replace(one, rules=tuple(each for each in one.rules if each.name != rule))


def vary_field(field: Field) -> Iterator[tuple[str, tuple[Field, ...]]]:
    yield "dropped", ()
    yield "renamed", (replace(field, name=f"{field.name}_2"),)
    yield "required or not", (replace(field, required=not field.required),)
    if not field.fields:
        yield "in another unit", (replace(field, unit="parsecs"),)
        kind = "long" if field.type != "long" else "string"
        yield "of another type", (replace(field, type=kind),)


@pytest.mark.parametrize("one", PUBLIC, ids=str)
def test_nothing_about_a_public_contract_can_be_changed_unseen(one: Contract) -> None:
    assert not [finding for finding in find_changes(one) if finding.breaks]
    unseen = [
        what
        for what, other in create_mutants(one)
        if not any(f.breaks for f in find_changes(other))
    ]
    assert unseen == []


def test_spans_that_differ_by_a_second_in_two_weeks_differ() -> None:
    was, is_ = (replace(PUBLIC[0], retention=timedelta(seconds=s)) for s in (1_234_568, 1_234_567))
    found = list(list_findings({was.name: is_}, {was.name: (was,)}, CONSUMERS, TODAY))
    assert [one.change.text for one in found] == ["1234568 s → 1234567 s"]
