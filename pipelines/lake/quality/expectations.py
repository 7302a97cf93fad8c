"""Makes expectations of a contract's rules, independently of the hot path's SQL.

A rule for an array's items becomes an expectation of a frame with a row per item.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from great_expectations import expectations as gxe
from great_expectations.expectations.expectation import Expectation

from contracts import Contract, Rule

EVENTS = "events"
"""The frame with a row per event, or row of a view; each other one has the name of its array."""

BYTES = "{}_bytes"
ITEMS = "{}_items"

Make = Callable[[str, Any], Expectation]
"""Takes a column and the rule's limit."""


def expect_at_least(column: str, limit: Any) -> Expectation:
    return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=limit)


def expect_at_most(column: str, limit: Any) -> Expectation:
    return gxe.ExpectColumnValuesToBeBetween(column=column, max_value=limit)


def expect_match(column: str, limit: str) -> Expectation:
    # Python's $ also matches before a final line break.
    return gxe.ExpectColumnValuesToMatchRegex(column=column, regex=limit.removesuffix("$") + r"\Z")


MAKES: Mapping[str, Make] = {
    "required": lambda column, _: gxe.ExpectColumnValuesToNotBeNull(column=column),
    "minimum": expect_at_least,
    "maximum": expect_at_most,
    "minLength": lambda column, limit: gxe.ExpectColumnValueLengthsToBeBetween(
        column=column, min_value=limit
    ),
    "maxLength": lambda column, limit: gxe.ExpectColumnValueLengthsToBeBetween(
        column=column, max_value=limit
    ),
    "maxBytes": expect_at_most,
    "pattern": expect_match,
    "validValues": lambda column, limit: gxe.ExpectColumnValuesToBeInSet(
        column=column, value_set=list(limit)
    ),
    "minItems": expect_at_least,
    "maxItems": expect_at_most,
    "notEqual": lambda column, limit: gxe.ExpectColumnValuesToNotBeInSet(
        column=column, value_set=[limit]
    ),
    "lessThan": lambda column, limit: expect_order(column, limit, or_equal=False),
    "atMost": lambda column, limit: expect_order(column, limit, or_equal=True),
}
"""By the kind of a rule, as in contracts/rules.py. Only `required` rejects an absent value."""

MEASURED = {"maxBytes": BYTES, "minItems": ITEMS, "maxItems": ITEMS}
"""The kinds whose expectation is of a column that measures the field."""


def expect_order(column: str, limit: str, *, or_equal: bool) -> Expectation:
    return gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A=limit, column_B=column, or_equal=or_equal, ignore_row_if="either_value_is_missing"
    )


def expect_no_row(description: str) -> Expectation:
    """Of a frame that holds the bad rows only."""
    return gxe.ExpectTableRowCountToEqual(value=0, description=description)


def list_expectations(contract: Contract) -> dict[str, dict[str, Expectation]]:
    """The expectations, by frame and by the rule's name."""
    by_frame: dict[str, dict[str, Expectation]] = {EVENTS: {}}
    for rule in contract.rules:
        if rule.kind == "required" and len(rule.path) > 1:
            continue  # Avro cannot omit it; the hot path skips it too
        frame = EVENTS if len(rule.path) == 1 else rule.path[0]
        by_frame.setdefault(frame, {})[rule.name] = create_expectation(rule)
    return by_frame


def create_expectation(rule: Rule) -> Expectation:
    column = MEASURED.get(rule.kind, "{}").format(rule.path[-1])
    made = MAKES[rule.kind](column, rule.limit)
    made.description = rule.name
    return made


def build_frames(contract: Contract, events: pa.Table, *identity: str) -> dict[str, pa.Table]:
    """The frames of the expectations, by name; the columns `identity` identify a row's event."""
    by_name = {EVENTS: select_fields(contract, events, *identity)}
    for array in contract.fields:
        if array.item:
            lists = events[array.name].combine_chunks()
            parents, items = pc.list_parent_indices(lists), pc.list_flatten(lists)
            own = {field.name: pc.struct_field(items, field.name) for field in array.fields}
            of_event = {name: events[name].take(parents) for name in identity}
            by_name[array.name] = pa.table({**of_event, **own})
    return by_name


def select_fields(contract: Contract, events: pa.Table, *identity: str) -> pa.Table:
    """The fields, with the measures of some; of an array only its number of items."""
    columns = {name: events[name] for name in identity}
    for field in contract.fields:
        column = events[field.name]
        if field.item:
            column = columns[ITEMS.format(field.name)] = pc.list_value_length(column)
        if field.type == "bytes":
            columns[BYTES.format(field.name)] = pc.binary_length(column)
        columns[field.name] = column
    return pa.table(columns)
