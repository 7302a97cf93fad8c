"""GET /metrics: the figures of GET /v1/pipelines, of the materializers and of the requests."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from services.api import problems
from services.api.models import NoParameters
from services.api.pipelines import standings
from services.api.sources import Sources
from services.clock import wall_ms

OUTCOMES = ("applied", "quarantined", "duplicate")
TEXT = "text/plain"


def routes(sources: Sources, registry: CollectorRegistry) -> APIRouter:
    router = APIRouter(tags=["metrics"])
    registry.register(Figures(sources))
    ProcessCollector(registry=registry)

    @router.get(
        "/metrics",
        operation_id="getMetrics",
        summary="Figures for Prometheus",
        response_class=Response,
        responses={
            200: {"content": {TEXT: {"schema": {"type": "string"}}}},
            **problems.responses(),
        },
    )
    def get_metrics(_: NoParameters) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router


class Figures(Collector):
    """Taken when they are asked for; what is not known then has no sample."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def describe(self) -> Iterable[Metric]:
        return ()  # so that registering it reads no database

    def collect(self) -> Iterator[Metric]:
        pipelines = standings(self._sources)
        yield from _gauges(pipelines)
        yield _ages(self._sources, pipelines)
        yield _lags(pipelines)
        yield _books(pipelines)
        yield from _materializers(self._sources)


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
"""Metric, member of the pipeline's standing, help, and how many of its unit make the metric's."""

Standings = Mapping[str, Mapping[str, Any]]


def _gauges(pipelines: Standings) -> Iterator[Metric]:
    for metric, member, documentation, divisor in PER_PIPELINE:
        gauge = GaugeMetricFamily(metric, documentation, labels=("pipeline",))
        for name, told in pipelines.items():
            if told.get(member) is not None:
                gauge.add_metric((name,), told[member] / divisor)
        yield gauge


def _ages(sources: Sources, names: Iterable[str]) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_marker_age_seconds",
        "Wall time since the newest marker was written.",
        labels=("pipeline",),
    )
    for name in names:
        served = sources.generations.served(name)
        if served is not None and served.marker is not None:
            gauge.add_metric((name,), max(0, wall_ms() - served.marker.written_at_ms) / 1000)
    return gauge


def _lags(pipelines: Standings) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_lag_records",
        "Input records not counted yet.",
        labels=("pipeline", "topic"),
    )
    for name, told in pipelines.items():
        for topic, records in (told.get("lag_records_by_input") or {}).items():
            gauge.add_metric((name, topic), records)
    return gauge


def _books(pipelines: Standings) -> Metric:
    counter = CounterMetricFamily(
        "retail_pipeline_records",
        "Input records read, by what became of them; a new generation counts anew.",
        labels=("pipeline", "topic", "outcome"),
    )
    for name, told in pipelines.items():
        totals: dict[tuple[str, str], int] = {}
        for book in told.get("books") or ():
            for outcome in OUTCOMES:
                at = (book["topic"], outcome)
                totals[at] = totals.get(at, 0) + book[outcome]
        for (topic, outcome), records in totals.items():
            counter.add_metric((name, topic, outcome), records)
    return counter


def _materializers(sources: Sources) -> Iterator[Metric]:
    labels = ("pipeline", "generation")
    commits = CounterMetricFamily(
        "retail_materializer_commits", "Markers committed since the start.", labels=labels
    )
    rows = CounterMetricFamily(
        "retail_materializer_rows", "Rows written since the start.", labels=labels
    )
    for each in sources.generations.all():
        at = (each.generation.pipeline, str(each.generation.number))
        commits.add_metric(at, each.work.commits)
        rows.add_metric(at, each.work.rows)
    yield commits
    yield rows
