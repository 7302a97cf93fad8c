"""How far a batch goes."""

import pytest

from pipelines.lake.bronze import OtherLog, limit_ends

A, B = ("receipts", 0), ("receipts", 1)


def test_a_small_batch_takes_all_there_is() -> None:
    assert limit_ends({A: 5}, {A: 9, B: 3}, records_max=7) == {A: 9, B: 3}


def test_a_large_one_is_shared_out_and_comes_nearer_everywhere() -> None:
    ends = {A: 1_000, B: 3}
    reached = limit_ends({A: 0}, ends, records_max=100)
    assert all(0 < reached[at] <= ends[at] for at in ends)
    assert sum(reached.values()) <= 100 + len(ends)


def test_batch_by_batch_the_end_is_reached() -> None:
    ends, reached = {A: 997, B: 31}, {A: 0, B: 0}
    for _ in range(200):
        reached = limit_ends(reached, ends, records_max=10)
    assert reached == ends


def test_a_log_that_ends_before_the_table_is_another_one() -> None:
    with pytest.raises(OtherLog, match="receipts/0"):
        limit_ends({A: 5}, {A: 4}, records_max=10)
