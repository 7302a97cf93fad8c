"""What is really published is what every consumer relies on: read from a real broker.

The simulator lives a day with all its dirt, the API publishes beside it, a customer is forgotten,
the quarantine lists what is rejected, and the gate and the supplier answer a review's proposals.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from threading import Event

import pytest

from contracts import ADJUSTMENTS, CONFIRMATIONS, CONTRACTS, RECEIPTS, Contract
from contracts.consumer import CONSUMERS
from contracts.documents import to_document
from contracts.validation import VALIDATED, Rejection, validate
from infra.kafka import Record, create_admin, read_end_offsets
from infra.processes import build_environment
from infra.settings import Settings, locate_root
from infra.wait import wait_until
from ops.verify.log import read
from services import supplier
from services.api.app import create_sources
from services.gate import Gate, Publisher
from services.ordering.gate import ORDERING
from services.quarantine import follower as quarantine
from services.quarantine.follower import read_progress
from tests.brokers import read_all
from tests.contracts.evolution.editing import HERE, check_contracts
from tests.contracts.expectations import find_violations
from tests.services.at_work import at_work
from tests.services.ordering.shop import Reordering, find_review_ms
from tests.services.serving import serving
from tests.worlds import shrink_world

pytestmark = [pytest.mark.thorough, pytest.mark.e2e]

SECONDS_MAX = 120
PIPELINES = {name for name, consumer in CONSUMERS.items() if consumer.kind == "pipeline"}
BY_PIPELINES = {topic for name in PIPELINES for topic in CONSUMERS[name].writes}
"""Only Spark writes these: tests/replay compares them with the same expectations."""
RELEASED_BY_HAND = {"public.quarantine.release.v1"}
DRAFTS = set(check_contracts(HERE).drafts)
USES = [
    (name, topic)
    for name, consumer in CONSUMERS.items()
    for topic in consumer.reads
    if topic not in BY_PIPELINES | RELEASED_BY_HAND | DRAFTS
]
"""Every consumer with every topic that something here publishes."""

RELEASE = f"/v1/quarantine/{RECEIPTS.name}/0/0/release?because=a+test"
ORDERED = [f"SKU-{number}" for number in range(5)]

Log = Mapping[str, list[Record]]
Follow = Callable[[Settings, Event], None]


@pytest.fixture(scope="module")
def published(kafka: Settings, tmp_path_factory: pytest.TempPathFactory) -> Log:
    """Every record of every topic, by topic."""
    folder = tmp_path_factory.mktemp("providers")
    settings = shrink_world(kafka, 3, 60, 3.0, data_dir=folder, simulator_dirt=40)
    run(settings, "generators.simulator", "--backfill-days", "1", "--stop-after-backfill")
    run(settings, "ops.cli.main", "simulate", "--receipts-per-second", "4")
    moment = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)  # the world began a day before
    post(settings, ADJUSTMENTS, moment)
    replacing = settings.model_copy(update={"pseudonyms": True})
    customer = {"customer_id": "nobody-else", "card_token": "card of nobody-else"}
    post(replacing, RECEIPTS, moment - timedelta(hours=1), **customer)
    run(replacing, "ops.cli.main", "forget", "customer", "nobody-else")
    validated = read_end_offsets(create_admin(settings), VALIDATED)
    serve_until(quarantine.follow, settings, lambda: read_progress(settings) == validated)
    order(settings)
    serve_until(
        supplier.confirm_orders, settings, lambda: count_confirmed(settings) == len(ORDERED)
    )
    ends = read_end_offsets(create_admin(kafka), CONTRACTS)
    found: dict[str, list[Record]] = {name: [] for name in CONTRACTS}
    for record in read(kafka, ends):
        found[record.topic].append(record)
    return found


def run(settings: Settings, module: str, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=locate_root(),
        env=build_environment(settings),
        check=True,
        capture_output=True,
        timeout=SECONDS_MAX,
    )


def post(settings: Settings, contract: Contract, event_time: datetime, **changes: str) -> None:
    """Post an event, and try to act without the token, which is recorded."""
    example = {**contract.examples[0], "event_id": "posted", "event_time": event_time, **changes}
    event = to_document(contract, example)
    with serving(create_sources(settings)) as api:
        path = f"/v1/events/{contract.name}"
        api.until(lambda: api.request("POST", path, json={}).status_code == 422)
        answer = api.request("POST", path, json=event)
        assert answer.status_code == HTTPStatus.CREATED, answer.text
        refused = api.request("POST", RELEASE)
        assert refused.status_code == HTTPStatus.UNAUTHORIZED, refused.text


def order(settings: Settings) -> None:
    """What the gate makes of a review, whose proposals stand for those of a pipeline."""
    reordering = Reordering(settings)
    reordering.promote(1)
    reordering.propose(1, 0, dict.fromkeys(ORDERED, 10))
    reordering.mark(1)
    publisher = Publisher(settings, ORDERING)
    gate = Gate(settings, ORDERING, publisher)

    def is_answered() -> bool:
        gate.look()
        return publisher.find_answered_ms() >= find_review_ms(0)

    wait_until(is_answered, "the review is answered", SECONDS_MAX)
    publisher.close()


def count_confirmed(settings: Settings) -> int:
    return sum(1 for _ in read_all(settings, CONFIRMATIONS.name))


def serve_until(follow: Follow, settings: Settings, done: Callable[[], bool]) -> None:
    """A service's life, until it has done its work."""
    with at_work(follow, settings):
        wait_until(done, f"{follow.__module__} has read all", SECONDS_MAX)


def select_accepted(contract: Contract, records: list[Record]) -> list[Record]:
    """Those that readers get to see: what is dirty is rejected before."""
    if contract.name not in VALIDATED:
        return records
    return [
        record
        for record in records
        if not isinstance(
            validate(contract, record.key, record.value, record.published_ms), Rejection
        )
    ]


@pytest.mark.parametrize(("who", "topic"), USES)
def test_a_consumer_finds_what_it_relies_on(who: str, topic: str, published: Log) -> None:
    contract = CONTRACTS[topic]
    records = select_accepted(contract, published[topic])
    assert records
    assert list(find_violations(CONSUMERS[who].reads[topic], contract, records)) == []


def test_nobody_writes_what_they_do_not_declare(published: Log) -> None:
    """Each topic has records, and somebody who says that they are theirs; a draft has neither."""
    for name, records in published.items():
        if name in DRAFTS:
            assert not records
            continue
        writers = {who for who, consumer in CONSUMERS.items() if name in consumer.writes}
        assert writers
        assert records or writers <= PIPELINES | {"quarantine"}
