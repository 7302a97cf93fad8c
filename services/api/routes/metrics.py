"""GET /metrics: figures of pipelines, materializers and requests, for Prometheus."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from sqlite3 import DatabaseError

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from contracts import ALERTS
from services.api.http.parameters import NoParameters
from services.api.http.problems import document_responses
from services.api.routes.pipelines import Pipeline, describe_all
from services.api.routes.views import TABLES
from services.api.store.store import Store
from services.clock import wall_ms

TEXT = "text/plain"
BEYOND_BOUND = f"""
    select rule, count(*) from {TABLES[ALERTS.name].name} where signals_left_out > 0 group by rule
"""


router = APIRouter(tags=["metrics"])


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {TEXT: {"schema": {"type": "string"}}}},
        **document_responses(),
    },
)
def get_metrics(request: Request, _: NoParameters) -> Response:
    registry: CollectorRegistry = request.app.state.figures
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def create_registry(store: Store) -> CollectorRegistry:
    """The registry of one app. `app.state.figures` holds it."""
    registry = CollectorRegistry()
    registry.register(Figures(store))
    ProcessCollector(registry=registry)
    return registry


class Figures(Collector):
    """Figures at the moment of a scrape. An unknown figure has no sample."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> Iterable[Metric]:
        return ()  # so that the registration reads no database

    def collect(self) -> Iterator[Metric]:
        pipelines = describe_all(self._store)
        yield from _gauge_pipelines(pipelines)
        yield _gauge_ages(self._store, pipelines)
        yield _gauge_lags(pipelines)
        yield _count_records(pipelines)
        yield from _count_work(self._store)
        yield _gauge_bounds(self._store)


PER_PIPELINE = (
    ("retail_pipeline_promoted", "promoted", "The promoted generation.", 1),
    ("retail_pipeline_generation", "generation", "The generation that the API reads.", 1),
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
"""Metric, member of the pipeline, help, and how many of its unit make one of the metric's."""


def _gauge_pipelines(pipelines: Sequence[Pipeline]) -> Iterator[Metric]:
    for metric, member, documentation, divisor in PER_PIPELINE:
        gauge = GaugeMetricFamily(metric, documentation, labels=("pipeline",))
        for each in pipelines:
            value: float | None = getattr(each, member)
            if value is not None:
                gauge.add_metric((each.pipeline,), value / divisor)
        yield gauge


def _gauge_ages(store: Store, pipelines: Sequence[Pipeline]) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_marker_age_seconds",
        "Wall time since the newest marker was written.",
        labels=("pipeline",),
    )
    for each in pipelines:
        served = store.generations.find_served(each.pipeline)
        if served is not None and served.marker is not None:
            age_seconds = max(0, wall_ms() - served.marker.written_at_ms) / 1000
            gauge.add_metric((each.pipeline,), age_seconds)
    return gauge


def _gauge_lags(pipelines: Sequence[Pipeline]) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_lag_records",
        "Input records not counted yet.",
        labels=("pipeline", "topic"),
    )
    for each in pipelines:
        for topic, records in (each.lag_records_by_input or {}).items():
            gauge.add_metric((each.pipeline, topic), records)
    return gauge


def _count_records(pipelines: Sequence[Pipeline]) -> Metric:
    counter = CounterMetricFamily(
        "retail_pipeline_records",
        "Input records read, by what became of them; a new generation counts anew.",
        labels=("pipeline", "topic", "outcome"),
    )
    for each in pipelines:
        totals: Counter[tuple[str, str]] = Counter()
        for book in each.books or ():
            totals[book.topic, "applied"] += book.applied
            totals[book.topic, "quarantined"] += book.quarantined
            totals[book.topic, "duplicate"] += book.duplicate
        for (topic, outcome), records in totals.items():
            counter.add_metric((each.pipeline, topic, outcome), records)
    return counter


def _gauge_bounds(store: Store) -> Metric:
    """Of a rule with as many signals as it looks at in no alert, there is no sample."""
    gauge = GaugeMetricFamily(
        "retail_alerts_beyond_bound",
        "Alerts to which more clues were posted than the rule looks at.",
        labels=("rule",),
    )
    served = store.generations.find_view(ALERTS.name)
    if served is not None and served.snapshots is not None:
        with suppress(DatabaseError), served.snapshots.open() as snapshot:  # as of a pipeline
            for rule, alerts in snapshot.select(BEYOND_BOUND):
                gauge.add_metric((rule,), alerts)
    return gauge


def _count_work(store: Store) -> Iterator[Metric]:
    labels = ("pipeline", "generation")
    commits = CounterMetricFamily(
        "retail_materializer_commits", "Markers committed since the start.", labels=labels
    )
    rows = CounterMetricFamily(
        "retail_materializer_rows", "Rows written since the start.", labels=labels
    )
    for each in store.generations.list_all():
        at = (each.generation.pipeline, str(each.generation.number))
        commits.add_metric(at, each.work.commits)
        rows.add_metric(at, each.work.rows)
    yield commits
    yield rows
