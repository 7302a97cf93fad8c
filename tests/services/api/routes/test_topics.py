"""The API says of a topic what its contract says."""

from http import HTTPStatus

from contracts import ADJUSTMENTS, CONTRACTS, RECEIPTS, STOCK_LEVELS, get_schema_id
from services.api.routes.topics import Topic
from tests.services.serving import Answers


def test_every_contract_is_listed_in_the_shape_that_is_documented(quiet: Answers) -> None:
    listed = quiet.json("/v1/topics")["topics"]
    assert [topic["name"] for topic in listed] == sorted(CONTRACTS)
    for topic in listed:
        Topic.model_validate(topic)
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


def test_a_field_says_its_unit_and_an_array_what_it_holds(quiet: Answers) -> None:
    fields = {each["name"]: each for each in quiet.json(f"/v1/topics/{RECEIPTS.name}")["fields"]}
    assert fields["card_token"]["required"] is False
    assert "fields" not in fields["card_token"]
    line = {each["name"]: each for each in fields["lines"]["fields"]}
    price = line["unit_price_cents"]
    assert (price["type"], price["unit"], price["required"]) == ("int", "cents", True)
    assert price["description"]
    assert price["per"] in line
    assert "per" not in line["units"]


def test_a_field_that_names_a_person_says_what_for_and_how_long(quiet: Answers) -> None:
    fields = {each["name"]: each for each in quiet.json(f"/v1/topics/{RECEIPTS.name}")["fields"]}
    card = fields["card_token"]["personal"]
    assert card["retention"] == "for ever"
    assert "one card" in card["purpose"]
    assert "personal" not in fields["store_id"]


def test_the_example_is_a_record_as_readers_see_it(quiet: Answers) -> None:
    example = quiet.json(f"/v1/topics/{ADJUSTMENTS.name}")["example"]
    assert example["event_time"] == "2026-03-02T10:41:07.120Z"
    assert example.keys() == {field.name for field in ADJUSTMENTS.fields}


def test_a_view_has_no_horizon(quiet: Answers) -> None:
    view = quiet.json(f"/v1/topics/{STOCK_LEVELS.name}")
    assert (view["kind"], view["horizon_seconds"], view["event_time"]) == ("view", None, None)


def test_an_unknown_topic_is_not_found_and_the_known_ones_are_named(quiet: Answers) -> None:
    answer = quiet.get("/v1/topics/public.sales.receipt.v9")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert RECEIPTS.name in answer.json()["detail"]
