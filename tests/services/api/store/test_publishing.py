"""A posted event, as the log of a real broker holds it."""

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest

from contracts import ACTIONS, CONTRACTS, RECEIPTS, STORES, decode
from contracts.partitions import choose_partition
from infra.clock import get_wall_ms
from infra.kafka import Record, apply_topics, create_admin, is_answering, read_end_offsets
from infra.security.tokens import DAY_MS, Role, Token
from infra.settings import Settings
from infra.wait import wait_until
from ops.verify.log import read
from services.api.app import create_sources
from services.api.http.parameters import Profile
from services.api.routes.events import PUBLISHED_BY
from services.api.store.tables import to_document
from tests.brokers import start_broker
from tests.ports import free_port_base
from tests.services.broker import KafkaLog
from tests.services.serving import Answers, check_problem, serving
from tests.services.world import NOON, announce

pytestmark = pytest.mark.e2e

PATH = f"/v1/events/{RECEIPTS.name}"
RECEIPT = to_document(RECEIPTS.examples[0]) | {"event_time": NOON.isoformat()}


@pytest.fixture(scope="module")
def api(kafka: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    log = KafkaLog(kafka)
    announce(log)
    log.flush()
    settings = kafka.model_copy(update={"data_dir": tmp_path_factory.mktemp("api")})
    with serving(create_sources(settings)) as served:
        served.until(lambda: served.request("POST", PATH, json={}).status_code == 422)
        yield served


def read_stored(kafka: Settings, topic: str, partition: int, offset: int) -> Record:
    *_, last = read(kafka, {(topic, partition): offset + 1})
    return last


@pytest.mark.parametrize("store", ["S001", "S002", "S003", "S004", "Läden"])
def test_an_event_is_stored_as_its_contract_says(kafka: Settings, api: Answers, store: str) -> None:
    answer = api.request("POST", PATH, json=RECEIPT | {"store_id": store})
    assert answer.status_code == HTTPStatus.CREATED, answer.text
    receipt = answer.json()
    record = read_stored(kafka, RECEIPTS.name, receipt["partition"], receipt["offset"])
    assert record.key == store.encode()
    assert record.partition == choose_partition(store.encode(), RECEIPTS.settings.partitions)
    assert record.published_ms == NOON.timestamp() * 1000
    assert receipt["published_at"] == "2026-03-02T12:00:00.000Z"
    assert receipt["min_offset"] == f"{RECEIPTS.name}/{record.partition}/{record.offset}"
    value = decode(record.value).value
    assert (value["event_id"], value["store_id"]) == (receipt["event_id"], store)
    assert (value["event_time"], value["lines"]) == (NOON, RECEIPT["lines"])


def test_the_largest_receipt_of_the_contract_is_stored(kafka: Settings, api: Answers) -> None:
    sku = "\U0010ffff" * 64  # as many bytes as so many characters can have
    price = {"unit_price_cents": 2**31 - 1, "measure": "kilogram"}
    line = {"sku": sku, "units": 1_000_000, **price}
    headers = {"Content-Type": "application/json"}
    for lines, status in ((2_000, HTTPStatus.CREATED), (2_001, HTTPStatus.UNPROCESSABLE_ENTITY)):
        body = json.dumps(RECEIPT | {"lines": [line] * lines}, ensure_ascii=False).encode()
        answer = api.request("POST", PATH, content=body, headers=headers)
        assert answer.status_code == status, answer.text[:500]
        if status == HTTPStatus.CREATED:
            stored_at = answer.json()
            record = read_stored(kafka, RECEIPTS.name, stored_at["partition"], stored_at["offset"])
            assert decode(record.value).value["lines"] == [line] * lines


def test_the_same_event_again_is_another_record_of_it_and_a_refused_one_is_not_in_the_log(
    api: Answers,
) -> None:
    first, again = (api.request("POST", PATH, json=RECEIPT).json() for _ in range(2))
    assert again["offset"] == first["offset"] + 1
    assert again["event_id"] == first["event_id"]
    late = RECEIPT | {"event_time": "2026-03-02T08:00:00Z"}
    assert api.request("POST", PATH, json=late).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert api.request("POST", PATH, json=RECEIPT).json()["offset"] == again["offset"] + 1


def test_a_topic_that_the_broker_lacks_is_no_unknown_outcome(kafka: Settings, api: Answers) -> None:
    KafkaLog(kafka).remove(STORES.name)
    store = to_document(STORES.examples[0]) | {"event_time": NOON.isoformat()}
    answer = api.request("POST", f"/v1/events/{STORES.name}", json=store)
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Not published")


def test_an_outcome_that_is_not_known_is_said_to_be_so_and_sending_again_is_safe(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path, port_base=free_port_base())
    broker = start_broker(settings)
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", seconds_max=60)
        apply_topics(settings, CONTRACTS)
        announcing = KafkaLog(settings)
        announce(announcing)
        announcing.flush()
        with serving(create_sources(settings)) as api:
            api.until(lambda: api.request("POST", PATH, json=RECEIPT).is_success)
            broker.send_signal(signal.SIGSTOP)
            unknown = api.request("POST", PATH, json=RECEIPT)
            broker.send_signal(signal.SIGCONT)
            api.until(lambda: api.request("POST", PATH, json=RECEIPT).is_success)
        assert unknown.status_code == HTTPStatus.GATEWAY_TIMEOUT
        assert "same event_id" in unknown.json()["detail"]
        records = read(settings, read_end_offsets(create_admin(settings), [RECEIPTS.name]))
        events = [decode(record.value).value["event_id"] for record in records]
        assert set(events) == {RECEIPT["event_id"]}
    finally:
        broker.kill()
        broker.wait(30)


def test_in_a_secure_shop_an_event_names_its_token_and_a_refusal_is_recorded(
    kafka: Settings, tmp_path: Path
) -> None:
    till = Token("till", Role.PUBLISHER, get_wall_ms() + DAY_MS, "a secret of the till")
    profile = Profile(lambda: [till], 1_000, 1_000, get_wall_ms)
    sources = create_sources(kafka.model_copy(update={"data_dir": tmp_path}))
    headers = {"Authorization": f"Bearer {till.secret}"}
    announce(log := KafkaLog(kafka))
    log.flush()
    with serving(replace(sources, profile=profile)) as api:
        api.until(lambda: api.request("POST", PATH, json={}, headers=headers).status_code == 422)
        told = api.request("POST", PATH, json=RECEIPT, headers=headers).json()
        assert api.request("POST", PATH, json=RECEIPT).status_code == HTTPStatus.UNAUTHORIZED
    record = read_stored(kafka, RECEIPTS.name, told["partition"], told["offset"])
    assert (PUBLISHED_BY, b"till") in record.headers
    [end] = log.ends([ACTIONS.name]).values()
    refused = decode(read_stored(kafka, ACTIONS.name, 0, end - 1).value).value
    assert (refused["action"], refused["who"]) == ("publish-event", "nobody")
    assert (refused["outcome"], refused["status"]) == ("refused", HTTPStatus.UNAUTHORIZED)
