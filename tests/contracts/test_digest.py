"""Two views with the same rows have the same digest, and no others."""

import random
from datetime import timedelta
from typing import Any

import pytest

from contracts import GENERATIONS, RELEASES, STOCK_LEVELS, compute_digest

SHELF = STOCK_LEVELS.examples[0]
SHELVES = [{**SHELF, "sku": f"SKU-{number}"} for number in range(20)]

MORE: dict[str, Any] = {"string": "x", "timestamp": timedelta(milliseconds=1)}
"""What makes another value of a field of this type; of a number: one."""

IN_MS = {"first_event_time": 1_772_409_600_000, "last_event_time": 1_772_448_067_120}
ALIKE: dict[str, tuple[list[Any], list[Any]]] = {
    "rows in another order": (random.Random(1).sample(SHELVES, len(SHELVES)), SHELVES),
    "fields in another order": ([dict(reversed(list(SHELF.items())))], [SHELF]),
    "times in milliseconds": ([{**SHELF, **IN_MS}], [SHELF]),
}


@pytest.mark.parametrize("rows", ALIKE.values(), ids=ALIKE)
def test_what_says_the_same_has_the_same_digest(rows: tuple[list[Any], list[Any]]) -> None:
    assert compute_digest(STOCK_LEVELS, rows[0]) == compute_digest(STOCK_LEVELS, rows[1])


@pytest.mark.parametrize("field", STOCK_LEVELS.fields, ids=lambda field: field.name)
def test_every_field_counts(field: Any) -> None:
    changed = {**SHELF, field.name: SHELF[field.name] + MORE.get(field.type, 1)}
    assert compute_digest(STOCK_LEVELS, [changed]) != compute_digest(STOCK_LEVELS, [SHELF])


def test_every_row_what_is_within_an_array_and_bytes_that_are_no_text_count() -> None:
    assert compute_digest(STOCK_LEVELS, SHELVES[1:]) != compute_digest(STOCK_LEVELS, SHELVES)
    [promoted, *others] = GENERATIONS.examples[0]["generations"]
    changed = {"generations": [{**promoted, "code_digest": "other"}, *others]}
    for contract, change in ((GENERATIONS, changed), (RELEASES, {"value": b"\xff"})):
        row = contract.examples[0]
        assert compute_digest(contract, [{**row, **change}]) != compute_digest(contract, [row])


def test_the_form_is_settled() -> None:
    # printf '{"store_id":"S003",…}\n' | sha256sum
    assert compute_digest(STOCK_LEVELS, [SHELF]).startswith("8513642e")
    assert compute_digest(STOCK_LEVELS, []).startswith("e3b0c442")


def test_two_rows_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="found two of S003/SKU-00417"):
        compute_digest(STOCK_LEVELS, [SHELF, {**SHELF, "version": 38}])
