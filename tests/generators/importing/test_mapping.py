"""A mapping says what is wrong with it: the key, what was expected, what was found."""

from pathlib import Path

import pytest

from generators.importing.drafting import propose_mapping
from generators.importing.guessing import guess
from generators.importing.mapping import read_mapping
from infra.errors import UserError
from tests.generators.importing.sales import load_mapping, uci_row, write_m5, write_rows, write_uci

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


def test_a_draft_of_rows_per_line_finds_what_the_mapping_of_the_shape_says(tmp_path: Path) -> None:
    drafted = tmp_path / "draft.yaml"
    drafted.write_text(propose_mapping(write_uci(tmp_path / "sales.csv")))
    draft_mapping, ready = read_mapping(drafted), load_mapping("uci-online-retail")
    assert draft_mapping.fields.model_copy(update={"store": ready.fields.store}) == ready.fields
    assert (draft_mapping.receipt, draft_mapping.cancelled) == (ready.receipt, ready.cancelled)


def test_a_draft_says_where_a_date_could_be_read_in_two_ways(tmp_path: Path) -> None:
    either = propose_mapping(write_rows(tmp_path / "a.csv", uci_row("1", 1, "2/1/2010 8:26")))
    assert 'format: "%d/%m/%Y %H:%M"  # CHECK: or %m/%d/%Y %H:%M' in either
    unambiguous = propose_mapping(write_rows(tmp_path / "b.csv", uci_row("1", 1, "2/13/2010 8:26")))
    assert 'format: "%m/%d/%Y %H:%M"\n' in unambiguous


def test_a_draft_of_a_column_per_day_finds_the_days(tmp_path: Path) -> None:
    drafted = tmp_path / "draft.yaml"
    drafted.write_text(propose_mapping(write_m5(tmp_path)))
    draft_mapping = read_mapping(drafted)
    assert draft_mapping.wide is not None
    assert draft_mapping.wide.columns.pattern == "^d_[0-9]+$"
    assert (draft_mapping.fields.sku, draft_mapping.fields.store) == ("item_id", "store_id")


def test_a_draft_asks_what_units_with_decimals_are_of(tmp_path: Path) -> None:
    weighed = write_rows(tmp_path / "weighed.csv", uci_row("1", "0.350", "2/13/2010 8:26"))
    assert "# measure: {value: kilogram}" in propose_mapping(weighed)
    assert "measure" not in propose_mapping(write_uci(tmp_path / "counted.csv"))


def test_a_column_is_taken_for_one_field_only() -> None:
    guessed = {"time": "Date", "sku": "Item", "units": "Sales", "unit_price": "Price"}
    assert guess(["Date", "Item", "Sales", "Price", "Total"]) == guessed
