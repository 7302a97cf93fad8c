"""What a pipeline must not publish is noticed: rows, keys, places and headers are looked at."""

from dataclasses import replace

import pytest

from contracts import STORE_SALES, encode, encode_key
from contracts.partitions import choose_partition
from infra.kafka import Record
from tests.replay.providing import find_record_faults

ROW = STORE_SALES.examples[0]
KEY = encode_key(STORE_SALES, ROW)
GOOD = Record(
    topic=f"{STORE_SALES.name}.g1",
    partition=choose_partition(KEY, STORE_SALES.settings.partitions),
    offset=0,
    published_ms=1,
    key=KEY,
    value=encode(STORE_SALES, ROW),
    headers=(),
)


def test_a_row_that_keeps_its_contract_is_good() -> None:
    assert list(find_record_faults(STORE_SALES, GOOD)) == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (replace(GOOD, key=b"S001"), "the key is b'S001'"),
        (replace(GOOD, partition=GOOD.partition + 1), "lies in another partition"),
        (replace(GOOD, headers=[("sequence", b"1")]), "headers .'sequence'., expected none"),
        (replace(GOOD, value=encode(STORE_SALES, {**ROW, "version": 0})), "version is at least 1"),
    ],
)
def test_what_is_otherwise_is_told(bad: Record, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert not list(find_record_faults(STORE_SALES, bad))
