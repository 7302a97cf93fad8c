"""A posted event is one trace: published, materialized, read. Off by default, at no cost."""

from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import Producer
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contracts import ADJUSTMENTS, RECEIPTS, STOCK_LEVELS
from services.api.routes.topics import describe
from services.api.store.marker import Marker
from services.api.store.otel import FOLLOWED_MAX, OtelTraces
from services.api.store.publisher import Publisher
from services.api.store.traces import Traces
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.world import NOON, announce
from tests.services.writing import INPUT_PARTITIONS, Writing, promote

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SHELF = "/v1/stock/S001/A"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(spans: InMemorySpanExporter) -> OtelTraces:
    return OtelTraces(SimpleSpanProcessor(spans))


class Broker:
    """Acknowledges every record of the memory's log at once, and keeps its headers."""

    def __init__(self, log: MemoryLog) -> None:
        self.headers: list[list[tuple[str, bytes]]] = []
        self._log = log

    def produce(self, topic: str, value: bytes, key: bytes, **options: Any) -> None:
        self.headers.append(options["headers"])
        offset = self._log.publish((topic, 0), key, value) - 1
        stored = SimpleNamespace(partition=lambda: 0, offset=lambda: offset)
        options["on_delivery"](None, stored)

    def poll(self, seconds: float) -> None: ...


@pytest.fixture
def broker(log: MemoryLog) -> Broker:
    return Broker(log)


@pytest.fixture
def api(log: MemoryLog, broker: Broker, traces: Traces, tmp_path: Path) -> Iterator[Answers]:
    for topic in (RECEIPTS.name, ADJUSTMENTS.name):
        log.make(topic, INPUT_PARTITIONS)
    sources = create_sources(log, tmp_path, traces)
    publisher = Publisher(lambda: cast(Producer, broker))
    store = replace(sources.store, publisher=publisher)
    with serving(replace(sources, store=store)) as answers:
        announce(log)
        answers.eventually("/v1/clock", lambda answer: answer["state"] == "stopped")
        yield answers


def post(api: Answers, **headers: str) -> Any:
    event = describe(RECEIPTS).example | {"event_time": NOON.isoformat()}
    path = f"/v1/events/{RECEIPTS.name}"
    answer = api.request("POST", path, json=event, headers=headers)
    assert answer.status_code == HTTPStatus.CREATED, answer.text
    return answer.json()


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def test_an_event_is_followed_from_its_publication_to_the_answer_that_holds_it(
    api: Answers, inventory: Writing, log: MemoryLog, broker: Broker, spans: InMemorySpanExporter
) -> None:
    inventory.row(1, "A", 4)
    inventory.mark()
    promote(log, inventory)
    api.ready()
    posted = post(api, traceparent=f"00-{TRACE}-{PARENT}-01")
    inventory.row(1, "A", 3, version=2)
    inventory.mark(sold=1)
    api.json(SHELF, min_offset=posted["min_offset"])

    # Readers are told of a batch before its span ends.
    api.until(lambda: bool(named(spans, "materialize inventory")))
    [published] = named(spans, f"publish {RECEIPTS.name}")
    [materialized] = named(spans, "materialize inventory")
    [read] = named(spans, f"read {STOCK_LEVELS.name}")
    assert published.context is not None
    assert f"{published.context.trace_id:032x}" == TRACE
    assert published.parent is not None
    assert f"{published.parent.span_id:016x}" == PARENT
    for span in (materialized, read):
        assert span.parent is not None
        assert span.context is not None
        assert span.context.trace_id == published.context.trace_id
        assert span.parent.span_id == published.context.span_id
    assert materialized.attributes is not None
    assert materialized.attributes["retail.batch"] == 1
    [[(name, value)]] = broker.headers
    assert (name, value.decode()) == (
        "traceparent",
        f"00-{TRACE}-{published.context.span_id:016x}-01",
    )


def test_an_event_of_no_trace_begins_one(api: Answers, spans: InMemorySpanExporter) -> None:
    post(api)
    [published] = named(spans, f"publish {RECEIPTS.name}")
    assert published.parent is None


def test_an_event_that_is_not_published_ends_its_span_with_the_reason(
    api: Answers, broker: Broker, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise BufferError

    monkeypatch.setattr(broker, "produce", refuse)
    with pytest.raises(AssertionError, match="Not published"):
        post(api)
    [published] = named(spans, f"publish {RECEIPTS.name}")
    assert not published.status.is_ok
    assert published.status.description == "Not published"


def test_each_generation_takes_an_event_once(
    traces: OtelTraces, spans: InMemorySpanExporter
) -> None:
    traces.publish("sales", {}).store(0, 7)
    for generation, batch, reached in ((1, 4, 7), (1, 5, 8), (1, 6, 9), (2, 1, 8)):
        traces.commit(marker(generation, batch, reached))
    taken = [span.attributes for span in named(spans, "materialize inventory")]
    batches = [(one["retail.generation"], one["retail.batch"]) for one in taken if one]
    assert batches == [(1, 5), (2, 1)]


def marker(generation: int, batch: int, reached: int) -> Marker:
    return Marker("inventory", generation, batch, {("sales", 0): reached}, {}, 0, 0)


@pytest.mark.parametrize("events", [FOLLOWED_MAX - 1, FOLLOWED_MAX, FOLLOWED_MAX + 1])
def test_so_many_of_the_last_events_are_followed(
    traces: OtelTraces, spans: InMemorySpanExporter, events: int
) -> None:
    for offset in range(events):
        traces.publish("sales", {}).store(0, offset)
    traces.commit(marker(1, 1, events))
    assert len(named(spans, "materialize inventory")) == min(events, FOLLOWED_MAX)
