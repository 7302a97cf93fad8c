"""GET /metrics: figures of pipelines, generations and requests, for Prometheus."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from sqlite3 import DatabaseError

from fastapi import Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from contracts import ALERTS
from infra.clock import get_wall_ms
from ops.generations.record import State
from services.api.http.parameters import NoParameters
from services.api.http.problems import NO_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import Profile
from services.api.routes import quarantine
from services.api.routes.pipelines import Pipeline, describe_all
from services.api.routes.views import TABLES
from services.api.store.applier import Histogram
from services.api.store.changelog import READER
from services.api.store.errors import MirrorLoading
from services.api.store.materializer import Materializer
from services.api.store.store import Store

TEXT = "text/plain"
BEYOND_BOUND = f"""
    select rule, count(*) from {TABLES[ALERTS.name].name} where signals_left_out > 0 group by rule
"""

Samples = Iterable[tuple[Sequence[str], float | None]]
"""The values of a figure's labels, and its value; None: it is not known, and has no sample."""

router = Router(tags=["metrics"])


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {TEXT: {"schema": {"type": "string"}}}},
        **NO_PROBLEMS,
    },
)
def get_metrics(request: Request, _: NoParameters) -> Response:
    registry: CollectorRegistry = request.app.state.figures
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def create_registry(store: Store, profile: Profile | None) -> CollectorRegistry:
    """The registry of one app, in `app.state.figures`."""
    disable_created_metrics()  # they would be a second series per counter
    registry = CollectorRegistry()
    registry.register(Figures(store, profile))
    ProcessCollector(registry=registry)
    return registry


class Figures(Collector):
    """Figures at the time of a scrape."""

    def __init__(self, store: Store, profile: Profile | None) -> None:
        self._store = store
        self._profile = profile

    def describe(self) -> Iterable[Metric]:
        return ()  # so that the registration reads no database

    def collect(self) -> Iterator[Metric]:
        yield from _gauge_world(self._store)
        pipelines = describe_all(self._store)
        yield from _gauge_pipelines(self._store, pipelines)
        yield from _gauge_generation_states(pipelines)
        yield _count_records(pipelines)
        yield from _measure_generations(self._store.generations.list_all())
        yield from _count_rejections(self._store)
        yield _gauge_bounds(self._store)
        yield _gauge(
            "retail_security_end_timestamp_seconds",
            "When a token or a certificate that is not renewed by itself ends, in seconds of 1970.",
            ("kind", "name"),
            (
                ((end.kind, end.name), end.at_ms / 1000)
                for end in (self._profile.list_ends() if self._profile else ())
            ),
        )


def _gauge(name: str, says: str, labels: Sequence[str], samples: Samples) -> Metric:
    return _fill(GaugeMetricFamily(name, says, labels=labels), samples)


def _count(name: str, says: str, labels: Sequence[str], samples: Samples) -> Metric:
    return _fill(CounterMetricFamily(name, says, labels=labels), samples)


def _fill(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for values, value in samples:
        if value is not None:
            family.add_metric(values, value)
    return family


def _gauge_world(store: Store) -> Iterator[Metric]:
    """World time; no samples before the first announcement of a clock."""
    world = store.control.world
    yield _gauge(
        "retail_world_timestamp_seconds",
        "What time it is in the world, in seconds of 1970.",
        (),
        [((), world.world_at(get_wall_ms()) / 1000)] if world else [],
    )
    yield _gauge(
        "retail_world_speed_ratio",
        "Seconds of world time per second of wall time; 0 while the world stands.",
        (),
        [((), world.clock.speed_milli / 1000 if world.is_running else 0)] if world else [],
    )


PER_PIPELINE = (
    (
        "retail_pipeline_records_per_second",
        "rate_per_second",
        "Input records counted per second, over the last minute.",
        1,
    ),
    (
        "retail_pipeline_behind_world_seconds",
        "behind_world_seconds",
        "World time between the newest record counted and now; 0 without lag.",
        1,
    ),
    (
        "retail_pipeline_freshness_seconds",
        "freshness_ms",
        "An answer holds everything that the log held so long ago.",
        1000,
    ),
)
"""Metric, member of the pipeline, help, and the number of the member's units per metric unit."""


def _gauge_pipelines(store: Store, pipelines: Sequence[Pipeline]) -> Iterator[Metric]:
    """The answer of `GET /v1/pipelines` as figures."""
    for metric, member, documentation, divisor in PER_PIPELINE:
        members = [(each.pipeline, getattr(each, member)) for each in pipelines]
        yield _gauge(
            metric,
            documentation,
            ("pipeline",),
            [((name,), value / divisor) for name, value in members if value is not None],
        )
    yield _gauge(
        "retail_pipeline_served",
        "1: the API answers from the pipeline's views and follows it; 0: a part is missing.",
        ("pipeline",),
        [
            ((each.pipeline,), int(each.generation is not None and each.trouble is None))
            for each in pipelines
        ],
    )
    served = [store.generations.find_served(each.pipeline) for each in pipelines]
    yield _gauge(
        "retail_pipeline_marker_age_seconds",
        "Wall time since the newest marker was written.",
        ("pipeline",),
        [
            (
                (each.generation.pipeline,),
                max(0, get_wall_ms() - each.marker.written_at_ms) / 1000,
            )
            for each in served
            if each is not None and each.marker is not None
        ],
    )
    yield _gauge(
        "retail_pipeline_lag_records",
        "Input offsets not counted yet.",
        ("pipeline", "topic"),
        [
            ((each.pipeline, topic), records)
            for each in pipelines
            for topic, records in (each.lag_records_by_input or {}).items()
        ],
    )


def _gauge_generation_states(pipelines: Sequence[Pipeline]) -> Iterator[Metric]:
    """The generations; a pruned one has no series, so there are few."""
    every = [(each.pipeline, one) for each in pipelines for one in each.generations]
    yield _gauge(
        "retail_pipeline_generation_state",
        "1 for the state that the generation is in, 0 for the others.",
        ("pipeline", "generation", "state"),
        [
            ((pipeline, str(one.number), state.value), int(state.value == one.state))
            for pipeline, one in every
            for state in State
        ],
    )
    yield _gauge(
        "retail_pipeline_generation_unread_records",
        "Input records that the generation has not read yet.",
        ("pipeline", "generation"),
        [((pipeline, str(one.number)), one.left_records) for pipeline, one in every],
    )


def _count_records(pipelines: Sequence[Pipeline]) -> Metric:
    totals: Counter[tuple[str, str, str]] = Counter()
    for each in pipelines:
        for book in each.books or ():
            totals[each.pipeline, book.topic, "applied"] += book.applied
            totals[each.pipeline, book.topic, "quarantined"] += book.quarantined
            totals[each.pipeline, book.topic, "duplicate"] += book.duplicate
    return _count(
        "retail_pipeline_records",
        "Input records read, by what became of them; a new generation counts anew.",
        ("pipeline", "topic", "outcome"),
        totals.items(),
    )


def _measure_generations(materializers: Sequence[Materializer]) -> Iterator[Metric]:
    """The generations that the API follows: served ones and standbys."""
    labels = ("pipeline", "generation")
    every = [
        ((each.generation.pipeline, str(each.generation.number)), each) for each in materializers
    ]
    batches = HistogramMetricFamily(
        "retail_pipeline_batch_seconds",
        "From the moment that a batch was handed over until all its rows were acknowledged.",
        labels=labels,
    )
    waits = HistogramMetricFamily(
        "retail_pipeline_publish_to_visible_seconds",
        "From publication until answers hold a record; per batch of the one that waited most.",
        labels=labels,
    )
    for values, each in every:
        _add_histogram(batches, values, each.work.batches)
        _add_histogram(waits, values, each.work.waits)
    yield batches
    yield waits
    yield _gauge(
        "retail_pipeline_state_bytes",
        "What the generation's state takes in the pipeline, in memory and on disk.",
        labels,
        [(values, each.marker.state_bytes if each.marker else None) for values, each in every],
    )


def _add_histogram(
    family: HistogramMetricFamily, labels: Sequence[str], histogram: Histogram
) -> None:
    buckets = [(floatToGoString(bound), count) for bound, count in histogram.cumulate()]
    family.add_metric(labels, buckets, histogram.sum_seconds)


def _count_rejections(store: Store) -> Iterator[Metric]:
    labels = ("topic", "reason")
    rejected: list[tuple[str, str, int]] = []
    with suppress(MirrorLoading, DatabaseError), store.rejections.open() as connection:
        rejected = connection.execute(quarantine.COUNTS).fetchall()
    yield _count(
        "retail_quarantine_records",
        "Records in the quarantine, by their topic and why they were rejected.",
        labels,
        [((topic, reason), records) for topic, reason, records in rejected],
    )
    yield _count(
        "retail_api_set_aside_records",
        "Records that the API read and set aside since it started, by their topic and the reason.",
        labels,
        READER.count_set_aside().items(),
    )


def _gauge_bounds(store: Store) -> Metric:
    """The alerts at the rule's limit of signals; a rule without one has no sample."""
    beyond: list[tuple[str, int]] = []
    served = store.generations.find_view(ALERTS.name)
    if served is not None and served.snapshots is not None:
        with suppress(DatabaseError), served.snapshots.open() as snapshot:  # as of a pipeline
            beyond = snapshot.select(BEYOND_BOUND).fetchall()
    return _gauge(
        "retail_alerts_beyond_bound",
        "Alerts with more signals than the rule looks at.",
        ("rule",),
        [((rule,), alerts) for rule, alerts in beyond],
    )
