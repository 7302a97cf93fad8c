"""A mapping says what is wrong with it: the key, what was expected, what was found."""

from pathlib import Path

import pytest

from generators.importing.guessing import guess
from generators.importing.mapping import read_mapping
from infra.errors import UserError

GOOD = """
time: {column: t}
fields: {sku: s, units: u, unit_price: p, store: {value: A}}
money: {currency: EUR}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("money: [", "in YAML"),
        ("time: {column: t}", "fields: expected a value, found nothing"),
        (GOOD.replace("unit_price: p, ", ""), "fields: expected one of unit_price and amount"),
        (GOOD.replace("column: t", "column: t, zone: Europe/Atlantis"), "such as Europe/London"),
        (GOOD.replace("column: t", "column: t, format: '%d/%m/%Y %I:%M'"), "half of the day"),
        (GOOD + "cancelled: {column: x}", "one of prefix, values and negative_units"),
        (GOOD + "cancelled: {negative_units: true, column: x}", "column together with prefix"),
        (GOOD.replace("EUR", "euro"), "money.currency: expected"),
        (GOOD + "colour: red", "colour: expected no such key, found 'red'"),
        (
            GOOD.replace("store:", "measure: {value: pound}, store:"),
            "fields.measure: expected a column, or {value: …} with one of kilogram, litre, metre",
        ),
        (
            GOOD + "measures: {lb: pound}",
            "measures: expected for each value of the column one of kilogram, litre, metre, piece",
        ),
        (GOOD + "wide: {columns: '[', name: d, value: n}", "wide.columns: expected"),
        (
            GOOD + "wide: {columns: '', name: d, value: n}",
            "wide.columns: expected a pattern of at least 1 character, found ''",
        ),
        (GOOD + "measures: {lb: kilogram}", "measures together with a column as fields.measure"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read_mapping(file)
    assert message in str(error.value)
    assert str(file) in str(error.value)


def test_a_mapping_that_is_not_there_is_told_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="retail import --draft"):
        read_mapping(tmp_path / "none.yaml")


def test_a_column_is_taken_for_one_field_only() -> None:
    guessed = {"time": "Date", "sku": "Item", "units": "Sales", "unit_price": "Price"}
    assert guess(["Date", "Item", "Sales", "Price", "Total"]) == guessed
