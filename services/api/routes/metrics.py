"""GET /metrics: figures of pipelines, generations and requests, for Prometheus."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from sqlite3 import DatabaseError

from fastapi import Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from contracts import ALERTS
from infra.checks import Checked
from infra.clock import get_wall_ms
from ops.generations.record import State
from services.api.http.parameters import NoParameters, Sources
from services.api.http.router import Router
from services.api.problem import Unavailable
from services.api.routes import checks, quarantine
from services.api.routes.pipelines import Pipeline, describe_all
from services.api.routes.views import TABLES
from services.api.store.changelog import READER
from services.api.store.materializer import Materializer
from services.api.store.mirrored import REJECTIONS
from services.api.store.store import Store

TEXT = "text/plain"
BEYOND_BOUND = f"""
    select rule, count(*) from {TABLES[ALERTS.name].name} where signals_left_out > 0 group by rule
"""
OF_PIPELINE, OF_GENERATION = ("pipeline",), ("pipeline", "generation")
GAUGES: Mapping[Sequence[str], Mapping[str, str]] = {
    (): {
        "retail_world_timestamp_seconds": "What time it is in the world, in seconds of 1970.",
        "retail_world_speed_ratio": "Seconds of world time per second of wall time; 0 while the "
        "world stands.",
    },
    OF_PIPELINE: {
        "retail_pipeline_records_per_second": "Input records counted per second, over the last "
        "minute.",
        "retail_pipeline_behind_world_seconds": "World time between the newest record counted and "
        "now; 0 without lag.",
        "retail_pipeline_freshness_seconds": "An answer holds everything that the log held so long "
        "ago.",
        "retail_pipeline_served": "1: the API answers from the pipeline's views and follows it; 0: "
        "a part is missing.",
        "retail_pipeline_marker_age_seconds": "Wall time since the newest marker was written.",
    },
    ("pipeline", "topic"): {"retail_pipeline_lag_records": "Input offsets not counted yet."},
    (*OF_GENERATION, "state"): {
        "retail_pipeline_generation_state": "1 for the state that the generation is in, 0 for the "
        "others.",
    },
    OF_GENERATION: {
        "retail_pipeline_generation_unread_records": "Input records that the generation has not "
        "read yet.",
        "retail_pipeline_state_bytes": "What the generation's state takes in the pipeline, in "
        "memory and on disk.",
    },
    ("rule",): {
        "retail_alerts_beyond_bound": "Alerts with more signals than the rule looks at.",
    },
    ("table",): {
        "retail_check_failures": "Expectations that the newest check of the table found broken.",
        "retail_check_trouble": "1: the newest check of the table could not run; `all`: of none.",
    },
    ("kind", "name"): {
        "retail_security_end_timestamp_seconds": "When a token or a certificate that is not "
        "renewed by itself ends, in seconds of 1970.",
    },
}
COUNTERS: Mapping[Sequence[str], Mapping[str, str]] = {
    ("pipeline", "topic", "outcome"): {
        "retail_pipeline_records": "Input records read, by what became of them; a new generation "
        "counts anew.",
    },
    ("topic", "reason"): {
        "retail_quarantine_records": "Records in the quarantine, by their topic and why they were "
        "rejected.",
        "retail_api_set_aside_records": "Records that the API read and set aside since it started, "
        "by their topic and the reason.",
    },
}
"""What each figure says, by its labels. There are few series: a pruned generation has none."""

router = Router(tags=["metrics"])


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {TEXT: {"schema": {"type": "string"}}}}},
)
def get_metrics(request: Request, _: NoParameters) -> Response:
    registry: CollectorRegistry = request.app.state.figures
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def create_registry(sources: Sources) -> CollectorRegistry:
    """The registry of one app, in `app.state.figures`."""
    disable_created_metrics()  # they would be a second series per counter
    registry = CollectorRegistry()
    registry.register(Figures(sources))
    ProcessCollector(registry=registry)
    return registry


class Figures(Collector):
    """Figures at the time of a scrape."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def describe(self) -> Iterable[Metric]:
        return ()  # so that the registration reads no database

    def collect(self) -> Iterable[Metric]:
        store, profile = self._sources.store, self._sources.profile
        scrape = Scrape(store)
        scrape.add_world()
        for pipeline in describe_all(store):
            scrape.add_pipeline(pipeline)
        for materializer in store.generations.list_all():
            scrape.add_generation(materializer)
        scrape.add_rejections()
        scrape.add_alerts()
        scrape.add_checks(checks.read_newest(self._sources))
        for end in profile.list_ends() if profile else ():
            seconds = end.at_ms / 1000
            scrape.add("retail_security_end_timestamp_seconds", seconds, end.kind, end.name)
        return scrape.list_families()


class Scrape:
    """The figures of one scrape."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._values: dict[str, GaugeMetricFamily | CounterMetricFamily] = {
            name: family(name, says, labels=labels)
            for family, figures in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS))
            for labels, described in figures.items()
            for name, says in described.items()
        }
        self._durations: dict[str, Metric] = {}
        """Of the generations that the API follows."""

    def list_families(self) -> list[Metric]:
        return [*self._values.values(), *self._durations.values()]

    def add(self, name: str, value: float | None, *labels: str) -> None:
        """Add a sample; None: it is not known, and has none."""
        if value is not None:
            self._values[name].add_metric(labels, value)

    def add_world(self) -> None:
        """World time; no samples before the first announcement of a clock."""
        world = self._store.control.world
        if world is not None:
            self.add("retail_world_timestamp_seconds", world.world_at(get_wall_ms()) / 1000)
            speed = world.clock.speed_milli / 1000 if world.is_running else 0
            self.add("retail_world_speed_ratio", speed)

    def add_pipeline(self, pipeline: Pipeline) -> None:
        """The answer of `GET /v1/pipelines` as figures."""
        name, age_ms = pipeline.pipeline, pipeline.freshness_ms
        is_served = pipeline.generation is not None and pipeline.trouble is None
        served = self._store.generations.find_served(name)
        self.add("retail_pipeline_records_per_second", pipeline.rate_per_second, name)
        self.add("retail_pipeline_behind_world_seconds", pipeline.behind_world_seconds, name)
        self.add(
            "retail_pipeline_freshness_seconds", None if age_ms is None else age_ms / 1000, name
        )
        self.add("retail_pipeline_served", int(is_served), name)
        if served is not None and served.marker is not None:
            marker_ms = max(0, get_wall_ms() - served.marker.written_at_ms)
            self.add("retail_pipeline_marker_age_seconds", marker_ms / 1000, name)
        for topic, records in (pipeline.lag_records_by_input or {}).items():
            self.add("retail_pipeline_lag_records", records, name, topic)
        for generation in pipeline.generations:
            number = str(generation.number)
            self.add(
                "retail_pipeline_generation_unread_records", generation.left_records, name, number
            )
            for state in State:
                is_in = int(state.value == generation.state)
                self.add("retail_pipeline_generation_state", is_in, name, number, state.value)
        totals: Counter[tuple[str, str]] = Counter()
        for book in pipeline.books or ():
            for outcome in ("applied", "quarantined", "duplicate"):
                totals[book.topic, outcome] += getattr(book, outcome)
        for (topic, outcome), records in totals.items():
            self.add("retail_pipeline_records", records, name, topic, outcome)

    def add_generation(self, materializer: Materializer) -> None:
        """A generation that the API follows: a served one, or a standby."""
        generation, marker, work = (materializer.generation, materializer.marker, materializer.work)
        labels = (generation.pipeline, str(generation.number))
        self.add("retail_pipeline_state_bytes", marker.state_bytes if marker else None, *labels)
        self._add_durations(labels, work.batches)
        self._add_durations(labels, work.waits)

    def add_rejections(self) -> None:
        rejected: list[tuple[str, str, int]] = []
        with suppress(Unavailable, DatabaseError), self._store.open(REJECTIONS) as connection:
            rejected = connection.execute(quarantine.COUNTS).fetchall()
        for topic, reason, records in rejected:
            self.add("retail_quarantine_records", records, topic, reason)
        for labels, records in READER.count_set_aside().items():
            self.add("retail_api_set_aside_records", records, *labels)

    def add_alerts(self) -> None:
        """The alerts at the rule's limit of signals; a rule without one has no sample."""
        beyond: list[tuple[str, int]] = []
        served = self._store.generations.find_view(ALERTS.name)
        if served is not None and served.snapshots is not None:
            with suppress(DatabaseError), served.snapshots.open() as snapshot:  # as of a pipeline
                beyond = snapshot.select(BEYOND_BOUND).fetchall()
        for rule, alerts in beyond:
            self.add("retail_alerts_beyond_bound", alerts, rule)

    def add_checks(self, checked: Checked) -> None:
        """The lake's tables; none where they were not checked."""
        if checked.ran_ms or checked.trouble:
            self.add("retail_check_trouble", int(bool(checked.trouble)), "all")
        for table, result in checked.tables.items():
            self.add("retail_check_failures", len(result.failures), table)
            self.add("retail_check_trouble", int(bool(result.trouble)), table)

    def _add_durations(self, labels: Sequence[str], durations: Histogram) -> None:
        [collected] = durations.collect()
        family = self._durations.setdefault(
            collected.name, Metric(collected.name, collected.documentation, collected.type)
        )
        for sample in collected.samples:
            of_generation = dict(zip(OF_GENERATION, labels, strict=True))
            family.add_sample(sample.name, {**of_generation, **sample.labels}, sample.value)
