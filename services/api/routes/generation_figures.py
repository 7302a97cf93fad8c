"""Figures, for Prometheus, of the generations that the API follows: served ones and standbys."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.utils import floatToGoString

from services.api.store.applier import Histogram
from services.api.store.database import measure_bytes
from services.api.store.materializer import Materializer

PER_GENERATION = ("pipeline", "generation")


def measure_generations(materializers: Sequence[Materializer]) -> Iterator[Metric]:
    """Every figure of the generations. An unknown figure has no sample."""
    yield from _measure_batches(materializers)
    yield from _count_work(materializers)


def _label(each: Materializer) -> tuple[str, str]:
    """The values of PER_GENERATION."""
    return each.generation.pipeline, str(each.generation.number)


def _measure_batches(materializers: Sequence[Materializer]) -> Iterator[Metric]:
    batches = HistogramMetricFamily(
        "retail_pipeline_batch_seconds",
        "From the moment that a batch was handed over until all its rows were acknowledged.",
        labels=PER_GENERATION,
    )
    waits = HistogramMetricFamily(
        "retail_pipeline_publish_to_visible_seconds",
        "From publication until answers hold a record; per batch of the one that waited most.",
        labels=PER_GENERATION,
    )
    state = GaugeMetricFamily(
        "retail_pipeline_state_bytes",
        "What the generation's state takes in the pipeline, in memory and on disk.",
        labels=PER_GENERATION,
    )
    for each in materializers:
        _add_histogram(batches, each, each.work.batches)
        _add_histogram(waits, each, each.work.waits)
        if each.marker is not None and each.marker.state_bytes is not None:
            state.add_metric(_label(each), each.marker.state_bytes)
    yield batches
    yield waits
    yield state


def _add_histogram(family: HistogramMetricFamily, of: Materializer, histogram: Histogram) -> None:
    buckets = [(floatToGoString(bound), count) for bound, count in histogram.cumulate()]
    family.add_metric(_label(of), buckets, histogram.sum_seconds)


def _count_work(materializers: Sequence[Materializer]) -> Iterator[Metric]:
    commits = CounterMetricFamily(
        "retail_materializer_commits", "Markers committed since the start.", labels=PER_GENERATION
    )
    rows = CounterMetricFamily(
        "retail_materializer_rows", "Rows written since the start.", labels=PER_GENERATION
    )
    size = GaugeMetricFamily(
        "retail_materializer_file_bytes",
        "What the API keeps of the generation's views on disk.",
        labels=PER_GENERATION,
    )
    for each in materializers:
        commits.add_metric(_label(each), each.work.commits)
        rows.add_metric(_label(each), each.work.rows)
        size.add_metric(_label(each), measure_bytes(each.path))
    yield commits
    yield rows
    yield size
