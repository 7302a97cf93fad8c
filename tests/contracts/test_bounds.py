"""Every limit of every contract is exact in every validator."""

from datetime import timedelta

import pytest

from contracts import CONTRACTS, Contract, encode, encode_key
from contracts.checks import order_checks
from contracts.times import MILLISECOND
from contracts.validation import FUTURE, LATE, VALIDATED, Rejection, validate
from infra.kafka import Record
from ops.verify.validation import find_untimeliness
from tests.contracts.around import list_around
from tests.contracts.broken_rules import find_broken_rules

TIMED = [contract for contract in VALIDATED.values() if contract.horizon is not None]


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_a_value_goes_up_to_its_limit_and_no_further(contract: Contract) -> None:
    checks = {asked.name: asked for asked in order_checks(contract)}
    for around in list_around(contract):
        named = around.rule.name
        assert (named not in find_broken_rules(contract, around.value)) == around.keeps, named
        assert checks[named].holds(around.value) == around.keeps, named


@pytest.mark.parametrize("contract", TIMED, ids=repr)
def test_an_event_may_be_so_late_or_ahead_and_no_more(contract: Contract) -> None:
    for limit, side, reason in ((contract.horizon, 1, LATE), (contract.skew, -1, FUTURE)):
        if limit is None:
            continue
        for apart in (limit - MILLISECOND, limit):
            assert validate_twice(contract, side * apart) == {None}
        for apart in (limit + MILLISECOND, 10 * limit):
            assert validate_twice(contract, side * apart) == {reason}


def validate_twice(contract: Contract, delay: timedelta) -> set[str | None]:
    """The reasons of both validators against an event that was published this long after it
    happened."""
    event = contract.examples[0]
    happened = event[str(contract.event_time)]
    published_ms = round((happened + delay).timestamp() * 1000)
    key, value = encode_key(contract, event), encode(contract, event)
    verdict = validate(contract, key, value, published_ms)
    ours = verdict.reason if isinstance(verdict, Rejection) else None
    record = Record(contract.name, 0, 0, published_ms, key, value, ())
    return {ours, find_untimeliness(record, {**event, "event_time": happened})}
