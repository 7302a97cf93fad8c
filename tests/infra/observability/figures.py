"""What a real API tells Prometheus: every metric with a sample, and the labels that it has."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from prometheus_client.parser import text_string_to_metric_families

from contracts import ALERTS, QUARANTINE, encode, encode_key
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.showing import PIPELINES, Shop

Labels = Mapping[str, set[str]]
"""By a metric's name as queries have it, with its ending: the names of its labels."""


def fill(log: MemoryLog, api: Answers) -> None:
    """A small shop with a sample for every metric."""
    shop = Shop(log)
    for pipeline in PIPELINES:
        api.ready(pipeline=pipeline)
    row = QUARANTINE.examples[0]
    log.publish((QUARANTINE.name, 0), encode_key(QUARANTINE, row), encode(QUARANTINE, row))
    shop.fraud.put(ALERTS, signals_left_out=3)
    api.ready(shop.fraud.mark(), "fraud")
    shop.inventory.mark_again(1, took_ms=400, state_bytes=70_000)
    api.ready(1)
    for late in ("retail_pipeline_lag_records{", "retail_quarantine_records_total{"):
        api.until(partial(is_told, api, late))
    api.get("/v1/stock")


def is_told(api: Answers, beginning: str) -> bool:
    return beginning in api.get("/metrics").text


def read_labels(api: Answers) -> Labels:
    """Of every metric that has a sample."""
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(api.get("/metrics").text):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    return labels


def read_families(api: Answers) -> set[str]:
    """The names of our own metrics, as they are documented."""
    families = text_string_to_metric_families(api.get("/metrics").text)
    return {
        f"{one.name}_total" if one.type == "counter" else one.name
        for one in families
        if one.name.startswith("retail_")
    }
