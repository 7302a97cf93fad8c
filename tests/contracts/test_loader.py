"""A contract that is not fully understood is not loaded; the error says where and what to do."""

from pathlib import Path

import pytest
import yaml
from open_data_contract_standard.model import OpenDataContractStandard

from contracts import CONTRACTS, BadContract, catalog
from contracts.declarations import load_consumers
from contracts.loader import load

FOLDER = Path(catalog.__file__).parent
RECEIPT = Path("topics/sales/receipt.v1.yaml")
ADJUSTMENT = Path("topics/inventory/adjustment.v1.yaml")
STORE_SALES = Path("views/analytics/store-sales.v1.yaml")
VISIT = Path("views/analytics/visit.v2.yaml")
STOCK_LEVEL = Path("views/inventory/stock-level.v1.yaml")


def load_changed(
    folder: Path, source: Path, old: str = "", new: str = "", target: Path | None = None
) -> None:
    text = (FOLDER / source).read_text(encoding="utf-8")
    assert old in text
    file = folder / (target or source)
    file.parent.mkdir(parents=True)
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    load(folder)


@pytest.mark.parametrize(
    ("source", "old", "new", "messages"),
    [
        # types
        (RECEIPT, "physicalType: int\n", "physicalType: short\n", ["lines[].units", "integer/int"]),
        (RECEIPT, "logicalType: timestamp", "logicalType: date", ["event_time", "found date"]),
        (RECEIPT, "logicalType: object", "logicalType: string",
         ["lines.items.logicalType", "'object'"]),
        (RECEIPT, "          name: line\n", "          name: lines\n", ["item's name"]),
        # what every field says
        (RECEIPT, "        required: true\n", "", ["field event_id.required", "a value"]),
        (RECEIPT, "name: cashier_id", "name: register_id", ["register_id", "found two"]),
        (RECEIPT, "name: cashier_id", "name: CashierId", ["a name like unit_price_cents"]),
        # personal fields
        (RECEIPT, "classification: personal", "classification: secret",
         ["field cashier_id.classification", "'personal'"]),
        (RECEIPT, "        classification: personal\n", "", ["field cashier_id", "purpose"]),
        (RECEIPT, "        logicalType: array\n",
         "        logicalType: array\n        classification: personal\n",
         ["field lines", "Classify its items' fields"]),
        # what nobody would read
        (RECEIPT, "status: active", "status: active\ntags: [till]", ["found 'tags'"]),
        (RECEIPT, "  - {property: partitions", "  - {property: colour, value: red}\n"
         "  - {property: partitions", ["colour", "keys that are used here"]),
        # names
        (RECEIPT, "id: public.sales.receipt.v1", "id: public.sales.receipts.v1", [": id: "]),
        (RECEIPT, "value: public", "value: private", ["private.sales.receipt.v1", "the path"]),
        (RECEIPT, "version: 1.3.0", "version: 2.0.0", ["version", "1.x.y"]),
        (RECEIPT, "apiVersion: v3.1.0", "apiVersion: v3.0.2", ["'v3.1.0'"]),
        # key and time
        (RECEIPT, "value: [store_id]", "value: [shop_id]", ["key", "found shop_id"]),
        (RECEIPT, "value: [store_id]", "value: [card_token]", ["found card_token, optional"]),
        (STOCK_LEVEL, 'logicalTypeOptions: {pattern: "^[^/]{1,64}$"}',
         "logicalTypeOptions: {maxLength: 64}", ["field store_id", "Keep it out"]),
        (RECEIPT, "value: event_time", "value: store_id", ["eventTime", "found store_id"]),
        (RECEIPT, "unit: h", "unit: weeks", ["slaProperties.horizon.unit", "found 'weeks'"]),
        (RECEIPT, "property: horizon", "property: latency",
         ["'horizon', 'skew', 'retention' or 'grace'"]),
        (STORE_SALES, "element: store-sales.window_start", "element: store-sales.window_end",
         ["retention", "expected element store-sales.window_start", "the time in the key"]),
        (STORE_SALES, "element: store-sales.window_end", "element: late_events", ["grace"]),
        (VISIT, "value: [customer_id, slot_start]", "value: [customer_id]", ["no such time"]),
        # the topic
        (RECEIPT, "value: 4}", "value: 0}", ["partitions", "at least 1"]),
        (RECEIPT, "value: 4}", "value: 10240}", ["partitions", "at most 1024"]),
        (RECEIPT, "retention.ms:", "retention.bytes:", ["topicConfig", "retention.bytes"]),
        (RECEIPT, 'retention.ms: "-1"', "retention.ms: -1", ["Put it in quotes"]),
        # rules
        (RECEIPT, "{minItems: 1,", "{minLength: 1,", ["minItems, maxItems", "found minLength"]),
        (RECEIPT, "{minItems: 1,", "{minItems: 1.5,", ["an integer as minItems"]),
        (RECEIPT, '"^[^/]{1,64}$"', '"^.*$"', ["Java, Python and RE2"]),
        (RECEIPT, '"^[^/]{1,64}$"', '"^[z-a]$"', ["Java, Python and RE2"]),
        (ADJUSTMENT, "notEqual: 0", "notEqual: zero", ["notEqual takes a value"]),
        (ADJUSTMENT, "field: units, not", "field: unit, not", ["units is not 0"]),
        (ADJUSTMENT, "- name: units is not 0", "- name: sku is given",
         ["sku is given", "one rule of this name"]),
        # examples
        (RECEIPT, "examples: [2]", "examples: [two]", ["lines[].units", "examples of type int"]),
        (RECEIPT, "07.120Z\"]", "07.120\"]", ["event_time", "without a zone"]),
        (RECEIPT, "cashier_id: S003-K04", "teller_id: S003-K04", ["does not have: teller_id"]),
        (RECEIPT, "breaks: lines has", "breaks: lines had", ["which is no rule of this contract"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_a_way_out(
    tmp_path: Path, source: Path, old: str, new: str, messages: list[str]
) -> None:
    with pytest.raises(BadContract) as raised:
        load_changed(tmp_path, source, old, new)
    message = str(raised.value)
    for part in (str(source), "expected", "found", *messages):
        assert part in message


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("topics/sales/receipt.yaml", "Move the file"),
        ("topics/receipt.v1.yaml", "Move the file"),
        ("topics/sales/Receipt.v1.yaml", "Move the file"),
        ("topics/orders/receipt.v1.yaml", r"public\.orders\.receipt\.v1"),
    ],
)
def test_a_file_in_the_wrong_place_is_refused(tmp_path: Path, target: str, message: str) -> None:
    with pytest.raises(BadContract, match=message):
        load_changed(tmp_path, RECEIPT, target=Path(target))


def test_two_contracts_of_one_name_are_refused(tmp_path: Path) -> None:
    view = tmp_path / "views/sales/receipt.v1.yaml"
    view.parent.mkdir(parents=True)
    view.write_bytes((FOLDER / RECEIPT).read_bytes())
    with pytest.raises(BadContract, match="a name of its own"):
        load_changed(tmp_path, RECEIPT)


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_file_is_one_of_the_standard(name: str) -> None:
    """By the standard's own library, which knows more keys than the contracts use."""
    text = (FOLDER / CONTRACTS[name].file).read_text(encoding="utf-8")
    assert OpenDataContractStandard(**yaml.safe_load(text)).id == name


GOOD = Path(__file__).parents[2] / "contracts/topics/sales/receipt.v1.yaml"
STATUS = "status: active"
PARSER = ("while ", "did not find", "mapping values", "token", "<unicode string>", "column",
          "Input should", "validation error", "could not")  # fmt: skip


def fail(tmp_path: Path, text: str | bytes) -> str:
    file = tmp_path / "topics/sales/receipt.v1.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadContract) as raised:
        load(tmp_path)
    assert not any(words in str(raised.value) for words in PARSER), raised.value
    return str(raised.value)


NO_YAML = (
    "status: [active", "status: {is: active", 'status: "active', 'status: "act\\ive"',
    "status: is: active", "status active", "  status: active", "\tstatus: active",
    "status: @active", "status: *active", "status: !active now", "---\nstatus: active", "- status",
    "status: 2027-02-30", "status: \x07", "? [status]\n: active",
)  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        *((wrong, "expected YAML, found ") for wrong in NO_YAML),
        ("status: active\nstatus: active", "'status', which stands twice"),
        ("status: [active]", "expected a text, found a list"),
        ("status: 2", "expected a text, found 2"),
        ("status: active\nstaatus: 1\ntags: [x]", "Did you mean status?"),
        ("status: active\nteam: tills", "expected a mapping, found 'tills'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, wrong: str, told: str) -> None:
    text = GOOD.read_text()
    line = text[: text.index(STATUS)].count("\n") + 1
    found = fail(tmp_path, text.replace("team: {name: stores}\n", "").replace(STATUS, wrong))
    places = tuple(f"receipt.v1.yaml:{number}: " for number in (line, line + 1))
    of_line = [
        message for message in found.splitlines() if any(place in message for place in places)
    ]
    assert any(told in message for message in of_line), found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"name: receipt\nstatus: \xff\n", "receipt.v1.yaml:2: the file: expected UTF-8"),
        (b"", "expected a mapping, found nothing"),
        (b"- a\n", "expected a mapping, found a list"),
    ],
)
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: bytes, found: str) -> None:
    assert found in fail(tmp_path, text)


def test_everything_that_is_repeated_or_unknown_is_told_at_once(tmp_path: Path) -> None:
    text = GOOD.read_text().replace(STATUS, f"{STATUS}\n{STATUS}\ncolour: red")
    told = fail(tmp_path, text.replace("unit: m\n", "unit: m\n    unit: m\n    untt: m\n"))
    for part in ("'status', which", "'unit', which", "found 'colour'", "Did you mean unit?"):
        assert part in told


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("kind: tol", "till.yaml:2: kind: expected 'pipeline', 'service'"),
        ("kind: tool\nonwer: x", "till.yaml:3: onwer: expected keys that are used here"),
        ("kind: tool\nreads: {t: {for: x, fields: 7}}", "reads.t.fields"),
        (
            "kind: tool\nreads:\n  t: {for: x, fields: all, relies_on: {lat: 2 h}}",
            "till.yaml:4: reads.t.relies_on.lat: expected keys that",
        ),
        (
            "kind: tool\nreads: {t: {for: x, fields: all, relies_on: {late: 2 weeks}}}",
            "expected a length of time as 2 h",
        ),
        ("kind: tool\nwrites: [7]", "writes.0: expected a text, found 7"),
        ("kind: tool\nname: till", "'name', which stands twice"),
        ("kind: [", "till.yaml:2: "),
    ],
)
def test_a_consumers_file_is_read_as_strictly(tmp_path: Path, wrong: str, told: str) -> None:
    text = f"name: till\n{wrong}\ndomain: d\nowner: o\ndescription: d\n"
    (tmp_path / "till.yaml").write_text(text)
    with pytest.raises(BadContract) as raised:
        load_consumers(tmp_path)
    assert told in str(raised.value)
    assert not any(words in str(raised.value) for words in PARSER)
