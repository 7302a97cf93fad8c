"""The API says of a topic what its contract says."""

from http import HTTPStatus

from contracts import ADJUSTMENTS, CONTRACTS, RECEIPTS, get_schema_id
from tests.contracts.evolution.editing import HERE
from tests.services.serving import Answers


def test_every_contract_is_listed_as_it_is_told_alone(quiet: Answers) -> None:
    listed = quiet.json("/v1/topics")["topics"]
    assert [topic["name"] for topic in listed] == sorted(CONTRACTS)
    for topic in listed:
        assert quiet.json(f"/v1/topics/{topic['name']}") == topic


def test_a_topic_says_whom_to_ask_and_how_late_its_records_may_be(quiet: Answers) -> None:
    topic = quiet.json(f"/v1/topics/{ADJUSTMENTS.name}")
    assert (topic["kind"], topic["visibility"], topic["owner"]) == ("topic", "public", "inventory")
    assert (topic["horizon_seconds"], topic["skew_seconds"]) == (7_200, 300)
    assert (topic["key"], topic["event_time"]) == (["store_id"], "event_time")
    assert topic["partitions"] == ADJUSTMENTS.settings.partitions
    assert topic["schema_id"] == get_schema_id(ADJUSTMENTS)
    assert topic["schema_id"] in topic["schema_ids"]
    assert "units is not 0" in [rule["name"] for rule in topic["rules"]]


def test_a_field_says_its_unit_an_array_its_fields_and_a_persons_what_for(quiet: Answers) -> None:
    fields = {each["name"]: each for each in quiet.json(f"/v1/topics/{RECEIPTS.name}")["fields"]}
    assert fields["card_token"]["required"] is False
    assert "fields" not in fields["card_token"]
    line = {each["name"]: each for each in fields["lines"]["fields"]}
    price = line["unit_price_cents"]
    assert (price["type"], price["unit"], price["required"]) == ("int", "cents", True)
    assert price["description"]
    assert price["per"] in line
    assert "per" not in line["units"]
    card = fields["card_token"]["personal"]
    assert card["retention"] == "for ever"
    assert "one card" in card["purpose"]
    assert "personal" not in fields["store_id"]


def test_every_contract_is_listed_and_its_file_is_served_as_it_is(quiet: Answers) -> None:
    listed = quiet.json("/v1/contracts")["contracts"]
    assert [(contract["name"], contract["kind"]) for contract in listed] == [
        (name, contract.kind) for name, contract in sorted(CONTRACTS.items())
    ]
    for row in listed:
        answer = quiet.get(row["address"])
        assert answer.status_code == HTTPStatus.OK
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.content == (HERE / CONTRACTS[row["name"]].file).read_bytes()
