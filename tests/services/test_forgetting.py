"""Whoever is forgotten is named nowhere afterwards, and nothing that was counted changes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from contracts import (
    ADJUSTMENTS,
    CONTRACTS,
    ERASURES,
    RECEIPTS,
    REFUNDS,
    VISITS,
    decode,
    encode,
    encode_key,
)
from infra.erasures import locate_erasures, read_erasures
from infra.errors import UserError
from infra.identities import CARD, CUSTOMER, FOLDER, Identities
from infra.kafka import Partition, Record, build_client_config, create_admin, read_end_offsets
from infra.lake import locate_folders
from infra.scratch import IMPORTING, IMPORTS, lock_publishing
from infra.settings import Settings
from infra.wait import wait_until
from ops.verify.log import read
from services import forgetting
from services.api.app import create_sources
from services.api.store.tables import to_document
from services.forgetting import Unknown
from tests.command import run_command
from tests.replay.answer import answer
from tests.replay.running import InSession, Work, create_work
from tests.secrets import find_files
from tests.services.broker import KafkaLog
from tests.services.serving import Answers, serving
from tests.services.world import NOON, announce, beat, find_minute

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

# Nothing that stands before them is like them, so that compression leaves them as they are.
KNOWN_AS, TOKENS = "XqJkZvWyPg-17850", ("tok!VzKwQyXj", "tok?JyGwPqZk")
OTHER = "BnMtRsLhDf-13047"
POSTED, LATE = "wGxQzKpJ-1", "hTvYnRqM-2"
RECEIPT = to_document(RECEIPTS.examples[0])
HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
COLUMNS: Mapping[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": pa.list_(HEADER),
}
BRONZE = pa.schema(COLUMNS)
SECONDS_MAX = 240


def create_receipt(event_id: str, customer: str, card: str, minutes: int = 0) -> dict[str, Any]:
    return RECEIPT | {
        "event_id": event_id,
        "event_time": find_minute(minutes).isoformat(),
        "customer_id": customer,
        "card_token": card,
    }


@pytest.fixture
def shop(kafka: Settings, tmp_path: Path) -> Settings:
    """The broker at noon, with a data folder of its own; customers get pseudonyms."""
    log = KafkaLog(kafka)
    announce(log)
    beat(log, NOON)
    log.flush()
    home = tmp_path / "data"
    home.mkdir()
    return kafka.model_copy(update={"data_dir": home, "pseudonyms": True})


@pytest.fixture
def api(shop: Settings) -> Iterator[Answers]:
    with serving(create_sources(shop)) as served:
        served.until(lambda: post(served, {}) == HTTPStatus.UNPROCESSABLE_ENTITY)
        yield served


def post(api: Answers, event: dict[str, Any]) -> int:
    return api.request("POST", f"/v1/events/{RECEIPTS.name}", json=event).status_code


def read_log(shop: Settings, topics: Iterable[str]) -> dict[tuple[str, int, int], Record]:
    """Every record of the topics, by its place."""
    ends = read_end_offsets(create_admin(shop), topics)
    return {(record.topic, record.partition, record.offset): record for record in read(shop, ends)}


def list_naming(shop: Settings, broker: Settings, outputs: Iterable[str]) -> set[str]:
    """Where an id of the customer stands: records as they are sent, and files as they are."""
    traces = (KNOWN_AS, *TOKENS)
    records = {
        record.topic
        for record in read_log(shop, {*CONTRACTS, *outputs}).values()
        if any(trace.encode() in (record.value or b"") + (record.key or b"") for trace in traces)
    }
    files = {
        file.relative_to(home).parts[0]
        for home in (shop.data_dir, broker.data_dir)
        for trace in traces
        for file in find_files(trace, home)
    }
    return records | files


def read_sold(shop: Settings) -> dict[str, dict[str, Any]]:
    """The receipts of the log by their id."""
    ends = read_end_offsets(create_admin(shop), [RECEIPTS.name])
    events = (decode(record.value).value for record in read(shop, ends))
    return {event["event_id"]: dict(event) for event in events}


def has_counted(work: Work, receipts: int) -> bool:
    try:
        found = answer(work)
    except KeyError:
        return False  # it has no marker yet
    counted = (book.applied for (topic, _), book in found.books.items() if topic == RECEIPTS.name)
    return sum(counted) == receipts


def test_whoever_is_forgotten_is_named_nowhere_and_no_view_changes(
    shop: Settings,
    shared_broker: Settings,
    api: Answers,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert post(api, create_receipt(POSTED, KNOWN_AS, TOKENS[0])) == HTTPStatus.CREATED
    assert post(api, create_receipt("other", OTHER, "tok_other")) == HTTPStatus.CREATED
    late = create_receipt(LATE, KNOWN_AS, TOKENS[1], minutes=-10)
    assert post(api, late) == HTTPStatus.CREATED
    sold = read_sold(shop)
    assert sold[POSTED]["customer_id"] == sold[LATE]["customer_id"]
    assert sold[POSTED]["customer_id"] != sold["other"]["customer_id"]
    assert sold[POSTED]["customer_id"].startswith(CUSTOMER)
    assert sold[POSTED]["card_token"].startswith(CARD)

    work = create_work(shop, "visits")
    running = InSession(work, spark, monkeypatch)
    running.ensure_running()
    try:
        forget_beside(shop, shared_broker, api, work, sold)
    finally:
        running.stop()


def forget_beside(
    shop: Settings,
    broker: Settings,
    api: Answers,
    work: Work,
    sold: Mapping[str, Mapping[str, Any]],
) -> None:
    """Forget the customer while the pipeline runs."""
    outputs = set(work.generation.outputs.values())
    facts = {*outputs, ERASURES.name, *(n for n, o in CONTRACTS.items() if o.event_time)}
    wait_until(lambda: has_counted(work, 3), "the visits are counted", SECONDS_MAX)
    before, counted = read_log(shop, facts), answer(work)
    visits = [row for row in counted.rows[VISITS.name].values() if row["status"] == "counted"]
    assert sorted(row["receipts"] for row in visits) == [1, 2]
    assert find_files(POSTED, broker.data_dir)  # so names would be found, too
    assert list_naming(shop, broker, outputs) == {FOLDER}

    shown = run_command(shop, "forget", "show", KNOWN_AS)
    assert f"{sold[POSTED]['customer_id']} for them, and 2 cards" in shown.stdout
    done = run_command(shop, "forget", "customer", KNOWN_AS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Forgotten, with 2 cards" in done.stdout
    assert KNOWN_AS not in done.stdout

    assert list_naming(shop, broker, outputs) == set()
    after = read_log(shop, facts)
    [certificate] = [record for place, record in after.items() if place not in before]
    assert {place: after[place] for place in before} == before
    assert certificate.topic == ERASURES.name
    said = decode(certificate.value).value
    assert (said["customer_id"], said["cards"]) == (sold[POSTED]["customer_id"], 2)

    # They come back as somebody else, and the checkpoint of the next batch knows no more.
    assert post(api, create_receipt("again", KNOWN_AS, TOKENS[0])) == HTTPStatus.CREATED
    wait_until(lambda: has_counted(work, 4), "the next batch is done", SECONDS_MAX)
    assert list_naming(shop, broker, outputs) == {FOLDER}
    rows = answer(work).rows[VISITS.name]
    assert counted.rows[VISITS.name].items() <= rows.items()
    new = read_sold(shop)["again"]["customer_id"]
    assert new not in {event["customer_id"] for event in sold.values()}


def place_certificates(shop: Settings) -> dict[Partition, int]:
    return read_end_offsets(create_admin(shop), [ERASURES.name])


def know(shop: Settings, customer: str = KNOWN_AS) -> Identities:
    card = TOKENS[0] if customer == KNOWN_AS else f"card of {customer}"
    lookup = Identities(shop.data_dir)
    lookup.replace({"customer_id": customer, "card_token": card})
    lookup.save()
    return lookup


def test_who_is_unknown_or_whose_rows_may_be_loading_is_not_forgotten(shop: Settings) -> None:
    know(shop)
    before = place_certificates(shop)
    with pytest.raises(Unknown, match="found C1, which the lookup does not know"):
        forgetting.forget(shop, "C1")
    with lock_publishing(shop.data_dir), pytest.raises(UserError, match="Wait for it to end"):
        forgetting.forget(shop, KNOWN_AS)
    (shop.data_dir / IMPORTS / f"{IMPORTING}x").mkdir(parents=True)
    with pytest.raises(UserError, match="if it was killed, remove the folder"):
        forgetting.forget(shop, KNOWN_AS)
    assert place_certificates(shop) == before
    assert forgetting.look_up(shop, KNOWN_AS).cards == TOKENS[:1]


def test_who_stands_in_the_log_as_sent_is_not_said_to_be_forgotten(shop: Settings) -> None:
    know(shop)
    as_sent = {**RECEIPTS.examples[0], "card_token": TOKENS[0]}
    log = KafkaLog(shop)  # a client that goes round the API
    log.publish((RECEIPTS.name, 0), encode_key(RECEIPTS, as_sent), encode(RECEIPTS, as_sent))
    log.flush()
    with pytest.raises(UserError, match=rf"but {RECEIPTS.name}/\d/\d+ does: it was published"):
        forgetting.forget(shop, KNOWN_AS)
    assert forgetting.look_up(shop, KNOWN_AS).cards == TOKENS[:1]


def refund_in_no_year(customer: str) -> bytes:
    """A refund at a time that no calendar has."""
    far = {"customer_id": customer, "event_time": 2**60}
    return encode(REFUNDS, {**REFUNDS.examples[0], **far})


def write_json(customer: str) -> bytes:
    return json.dumps({"customer_id": customer}).encode()


@pytest.mark.parametrize(
    ("topic", "write"), [(REFUNDS.name, refund_in_no_year), (ADJUSTMENTS.name, write_json)]
)
@pytest.mark.parametrize("ends", ["commit_transaction", "abort_transaction"])
def test_what_a_client_of_others_sent_is_found_though_nobody_counts_it(
    shop: Settings, topic: str, write: Callable[[str], bytes], ends: str
) -> None:
    customer = f"{topic}/{ends}"  # the tests share a log
    know(shop, customer)
    client = Producer({**build_client_config(shop), "transactional.id": customer})
    client.init_transactions()
    client.begin_transaction()
    client.produce(topic, write(customer), key=b"S001")
    client.flush()
    getattr(client, ends)()
    before = place_certificates(shop)
    with pytest.raises(UserError, match=rf"but {topic}/\d/\d+ does: it was published"):
        forgetting.forget(shop, customer)
    assert place_certificates(shop) == before
    assert forgetting.look_up(shop, customer).cards


def test_what_only_the_archive_still_has_is_found(shop: Settings) -> None:
    know(shop, "archived")
    row = {"topic": RECEIPTS.name, "partition": 3, "offset": 7, "key": None, "headers": None}
    rows = pa.Table.from_pylist([{**row, "value": b"of archived"}], schema=BRONZE)
    write_deltalake(str(locate_folders(shop).bronze), rows, partition_by=["topic"])
    with pytest.raises(UserError, match=rf"{RECEIPTS.name}/3/7 in the lake's archive does"):
        forgetting.forget(shop, "archived")
    assert forgetting.look_up(shop, "archived").cards


def test_an_erasure_is_in_the_list_for_a_restore(shop: Settings) -> None:
    person = know(shop, "listed").find("listed")
    assert person is not None
    erased = forgetting.forget(shop, "listed")
    assert erased.pseudonym == person.pseudonym
    assert erased in read_erasures(locate_erasures(shop.data_dir))


def test_a_log_that_has_events_as_they_were_sent_forgets_nobody(shop: Settings) -> None:
    with pytest.raises(UserError, match="make up PSEUDONYMS=on"):
        forgetting.forget(shop, KNOWN_AS)


def test_a_certificate_that_could_not_be_published_is_published_by_the_next_call(
    shop: Settings,
) -> None:
    lookup = know(shop)
    lookup.replace({"customer_id": OTHER})
    lookup.save()
    lookup.erase(KNOWN_AS, 1)  # and the command was killed
    [before] = place_certificates(shop).values()
    forgetting.forget(shop, OTHER)
    [after] = place_certificates(shop).values()
    assert after == before + 2
    assert lookup.list_uncertified() == []
