"""GET /metrics: figures of pipelines, materializers and requests, for Prometheus."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from sqlite3 import DatabaseError

from fastapi import Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from contracts import ALERTS
from services.api.http.parameters import NoParameters
from services.api.http.problems import NO_PROBLEMS
from services.api.http.profile import Profile
from services.api.http.router import Router
from services.api.routes import quarantine
from services.api.routes.generation_figures import measure_generations
from services.api.routes.pipeline_figures import measure_pipelines
from services.api.routes.pipelines import describe_all
from services.api.routes.subscription_figures import measure_subscriptions
from services.api.routes.views import TABLES
from services.api.store.changelog import READER
from services.api.store.errors import MirrorLoading
from services.api.store.store import Store
from services.clock import get_wall_ms

TEXT = "text/plain"
BEYOND_BOUND = f"""
    select rule, count(*) from {TABLES[ALERTS.name].name} where signals_left_out > 0 group by rule
"""


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
    """Figures at the time of a scrape. An unknown figure has no sample."""

    def __init__(self, store: Store, profile: Profile | None) -> None:
        self._store = store
        self._profile = profile

    def describe(self) -> Iterable[Metric]:
        return ()  # so that the registration reads no database

    def collect(self) -> Iterator[Metric]:
        yield from _gauge_world(self._store)
        yield from measure_pipelines(self._store, describe_all(self._store))
        yield from measure_generations(self._store.generations.list_all())
        yield _count_rejections(self._store)
        yield _count_set_aside()
        yield from measure_subscriptions(self._store)
        yield _gauge_bounds(self._store)
        yield _gauge_ends(self._profile)


def _gauge_world(store: Store) -> Iterator[Metric]:
    """World time; no samples before the first announcement of a clock."""
    time = GaugeMetricFamily(
        "retail_world_timestamp_seconds", "What time it is in the world, in seconds of 1970."
    )
    speed = GaugeMetricFamily(
        "retail_world_speed_ratio",
        "Seconds of world time per second of wall time; 0 while the world stands.",
    )
    world = store.control.world
    if world is not None:
        time.add_metric((), world.world_at(get_wall_ms()) / 1000)
        speed.add_metric((), world.clock.speed_milli / 1000 if world.is_running else 0)
    yield time
    yield speed


def _count_rejections(store: Store) -> Metric:
    """The rejected records; no samples while the API still reads the quarantine."""
    counter = CounterMetricFamily(
        "retail_quarantine_records",
        "Records in the quarantine, by their topic and why they were rejected.",
        labels=("topic", "reason"),
    )
    with suppress(MirrorLoading, DatabaseError), store.rejections.open() as connection:
        for topic, reason, records in connection.execute(quarantine.COUNTS):
            counter.add_metric((topic, reason), records)
    return counter


def _count_set_aside() -> Metric:
    """The records that the API's own readers set aside since the process started."""
    counter = CounterMetricFamily(
        "retail_api_set_aside_records",
        "Records that the API read and set aside since it started, by their topic and the reason.",
        labels=("topic", "reason"),
    )
    for (topic, reason), records in READER.count_set_aside().items():
        counter.add_metric((topic, reason), records)
    return counter


def _gauge_bounds(store: Store) -> Metric:
    """The alerts at the rule's limit of signals; a rule without one has no sample."""
    gauge = GaugeMetricFamily(
        "retail_alerts_beyond_bound",
        "Alerts with more signals than the rule looks at.",
        labels=("rule",),
    )
    served = store.generations.find_view(ALERTS.name)
    if served is not None and served.snapshots is not None:
        with suppress(DatabaseError), served.snapshots.open() as snapshot:  # as of a pipeline
            for rule, alerts in snapshot.select(BEYOND_BOUND):
                gauge.add_metric((rule,), alerts)
    return gauge


def _gauge_ends(profile: Profile | None) -> Metric:
    """When what a secure shop does not renew by itself ends; another shop has no samples."""
    gauge = GaugeMetricFamily(
        "retail_security_end_timestamp_seconds",
        "When a token or a certificate ends, in seconds of 1970.",
        labels=("kind", "name"),
    )
    for end in profile.list_ends() if profile is not None else ():
        gauge.add_metric((end.kind, end.name), end.at_ms / 1000)
    return gauge
