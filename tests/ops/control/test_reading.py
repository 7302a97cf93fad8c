"""Whatever a topic holds: what breaks its contract is set aside, and the reader goes on."""

import logging
from datetime import datetime

import pytest

from contracts import CONTRACTS, GENERATIONS, HEARTBEATS, PURCHASE_ORDERS, Contract, encode
from ops.control.reading import Reader
from tests.bad_records import create_message, get_good, list_bad


def set_aside(contract: Contract, record: tuple[bytes, bytes]) -> dict[tuple[str, str], int]:
    """What a reader counts that is given this record alone."""
    reader = Reader()
    assert reader.read_message(contract, create_message(contract, record)) is None
    return reader.count_set_aside()


@pytest.mark.parametrize("name", sorted(CONTRACTS))
def test_a_bad_record_is_set_aside_and_the_next_good_one_is_read(name: str) -> None:
    contract, reader = CONTRACTS[name], Reader()
    for what, bad in list_bad(contract).items():
        assert reader.read_message(contract, create_message(contract, bad)) is None, what
    assert sum(reader.count_set_aside().values()) == len(list_bad(contract))
    happened = contract.examples[0].get(contract.event_time or "")
    published_ms = round(happened.timestamp() * 1000) if isinstance(happened, datetime) else 0
    assert reader.read(contract, (name, 0, 1), *get_good(contract), published_ms) is not None


def test_a_kind_is_logged_once_and_counted_each_time(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reader()
    for offset in range(3):
        reader.read_message(GENERATIONS, create_message(GENERATIONS, (b"x", b""), offset))
    wrong_key = b"another", get_good(GENERATIONS)[1]
    reader.read_message(GENERATIONS, create_message(GENERATIONS, wrong_key, 7))
    assert reader.count_set_aside() == {
        (GENERATIONS.name, "undecodable"): 3,
        (GENERATIONS.name, "wrong-key"): 1,
    }
    logged = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    places = [line.split(" is set aside")[0] for line in logged]
    assert places == [f"{GENERATIONS.name}/0/0", f"{GENERATIONS.name}/0/7"]


def test_a_rule_that_is_broken_is_the_reason() -> None:
    row = {**PURCHASE_ORDERS.examples[0], "units": 0}
    record = row["store_id"].encode(), encode(PURCHASE_ORDERS, row)
    expected = {(PURCHASE_ORDERS.name, "units is at least 1"): 1}
    assert set_aside(PURCHASE_ORDERS, record) == expected


def test_a_time_that_no_calendar_has_is_set_aside() -> None:
    row = {**HEARTBEATS.examples[0], "event_time": 10**15}
    assert set_aside(HEARTBEATS, (b"world", encode(HEARTBEATS, row)))


def test_generations_of_an_unknown_pipeline_are_set_aside() -> None:
    """Whoever reads them would find the view of a known pipeline among theirs."""
    record = get_good(GENERATIONS, pipeline="unknown")
    assert set_aside(GENERATIONS, record) == {(GENERATIONS.name, "unknown-pipeline"): 1}
