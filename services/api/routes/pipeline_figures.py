"""Figures of pipelines for Prometheus: the answer of `GET /v1/pipelines` as metrics."""

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ops.generations.record import State
from services.api.routes.pipelines import Pipeline
from services.api.store.store import Store
from services.clock import get_wall_ms


def measure_pipelines(store: Store, pipelines: Sequence[Pipeline]) -> Iterator[Metric]:
    """Every figure of the pipelines. An unknown figure has no sample."""
    yield from _gauge_pipelines(pipelines)
    yield _gauge_served(pipelines)
    yield from _gauge_generations(pipelines)
    yield _gauge_ages(store, pipelines)
    yield _gauge_lags(pipelines)
    yield _count_records(pipelines)


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
"""Metric, member of the pipeline, help, and the number of the member's units per metric unit."""


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
            age_seconds = max(0, get_wall_ms() - served.marker.written_at_ms) / 1000
            gauge.add_metric((each.pipeline,), age_seconds)
    return gauge


def _gauge_lags(pipelines: Sequence[Pipeline]) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_lag_records",
        "Input offsets not counted yet.",
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


def _gauge_served(pipelines: Sequence[Pipeline]) -> Metric:
    gauge = GaugeMetricFamily(
        "retail_pipeline_served",
        "1: the API answers from the pipeline's views and follows it; 0: a part is missing.",
        labels=("pipeline",),
    )
    for each in pipelines:
        is_served = each.generation is not None and each.trouble is None
        gauge.add_metric((each.pipeline,), int(is_served))
    return gauge


def _gauge_generations(pipelines: Sequence[Pipeline]) -> Iterator[Metric]:
    """The generations; a pruned one has no series, so there are few."""
    states = GaugeMetricFamily(
        "retail_pipeline_generation_state",
        "1 for the state that the generation is in, 0 for the others.",
        labels=("pipeline", "generation", "state"),
    )
    left = GaugeMetricFamily(
        "retail_pipeline_generation_unread_records",
        "Input records that the generation has not read yet.",
        labels=("pipeline", "generation"),
    )
    for each in pipelines:
        for one in each.generations:
            at = (each.pipeline, str(one.number))
            for state in State:
                states.add_metric((*at, state.value), int(state.value == one.state))
            if one.left_records is not None:
                left.add_metric(at, one.left_records)
    yield states
    yield left
