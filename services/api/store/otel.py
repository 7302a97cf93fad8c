"""Traces by OpenTelemetry. Only `create_traces` imports this module, if the settings ask for it."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from infra.kafka import Offsets, Partition
from services.api.store.marker import Marker
from services.api.store.traces import Headers, Publication, Traces
from services.clock import get_wall_ms

FOLLOWED_MAX = 1_000
"""The number of newest posted events that are followed until answers hold them."""
SEND_SECONDS_MAX = 0.5
"""For what is left when the API stops."""
NANOSECONDS_PER_MS = 1_000_000


@dataclass
class Followed:
    """An event in the log that is traced until answers hold it."""

    at: Partition
    offset: int
    context: Context
    """The publication, as the parent of what follows."""
    stored_ns: int
    held_by: set[tuple[str, int]] = field(default_factory=set)
    """The pipelines and generations whose answers hold it."""


def export_traces(endpoint: str) -> Traces:
    """Traces that go to a collector, by OTLP over HTTP."""
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    return OtelTraces(BatchSpanProcessor(exporter))


class OtelTraces(Traces):
    """Spans of publications, of the commits that made them visible, and of reads that waited."""

    def __init__(self, processor: SpanProcessor) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "retail-api"}), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("retail")
        self._propagator = TraceContextTextMapPropagator()
        self._followed: OrderedDict[tuple[Partition, int], Followed] = OrderedDict()
        self._lock = threading.Lock()

    def publish(self, topic: str, request_headers: Mapping[str, str]) -> Publication:
        span = self._tracer.start_span(
            f"publish {topic}",
            self._propagator.extract(request_headers),
            SpanKind.PRODUCER,
            {
                "messaging.system": "kafka",
                "messaging.operation.type": "send",
                "messaging.destination.name": topic,
            },
        )
        return OtelPublication(self, topic, span, self._render_headers(span))

    def follow(self, at: Partition, offset: int, span: Span) -> None:
        """Note from now on when answers hold the event."""
        event = Followed(at, offset, set_span_in_context(span), _get_now_ns())
        with self._lock:
            self._followed[at, offset] = event
            while len(self._followed) > FOLLOWED_MAX:
                self._followed.popitem(last=False)

    def commit(self, marker: Marker) -> None:
        by = (marker.pipeline, marker.generation)
        with self._lock:
            covered = [
                event
                for event in self._followed.values()
                if marker.inputs.get(event.at, 0) > event.offset and by not in event.held_by
            ]
            for event in covered:
                event.held_by.add(by)
        for event in covered:
            span = self._tracer.start_span(
                f"materialize {marker.pipeline}",
                event.context,
                SpanKind.CONSUMER,
                {
                    "retail.pipeline": marker.pipeline,
                    "retail.generation": marker.generation,
                    "retail.batch": marker.batch,
                },
                start_time=event.stored_ns,
            )
            span.end()

    @contextmanager
    def read(self, view: str, wanted: Offsets) -> Iterator[None]:
        with self._lock:
            events = [self._followed.get(record) for record in wanted.items()]
        spans = [
            self._tracer.start_span(f"read {view}", event.context, attributes={"retail.view": view})
            for event in events
            if event is not None
        ]
        try:
            yield
        finally:
            for span in spans:
                span.end()

    def stop(self) -> None:
        # The provider would wait for an absent collector.
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(SEND_SECONDS_MAX)

    def _render_headers(self, span: Span) -> Headers:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, set_span_in_context(span))
        return tuple((name, value.encode()) for name, value in carrier.items())


class OtelPublication(Publication):
    """A span that ends with the log's answer."""

    def __init__(self, traces: OtelTraces, topic: str, span: Span, headers: Headers) -> None:
        self.headers = headers
        self._traces = traces
        self._topic = topic
        self._span = span

    def store(self, partition: int, offset: int) -> None:
        self._span.set_attribute("messaging.destination.partition.id", str(partition))
        self._span.set_attribute("messaging.kafka.offset", offset)
        self._span.end()
        self._traces.follow((self._topic, partition), offset, self._span)

    def fail(self, reason: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, reason))
        self._span.end()


def _get_now_ns() -> int:
    return get_wall_ms() * NANOSECONDS_PER_MS
