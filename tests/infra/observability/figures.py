"""What a real API tells Prometheus: every metric with a sample, and the labels that it has."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import partial

import promql_parser
from prometheus_client.parser import text_string_to_metric_families

from contracts import ALERTS, QUARANTINE, SUBSCRIPTIONS, encode, encode_key
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.showing import PIPELINES, Shop

Labels = Mapping[str, set[str]]
"""By a metric's name as queries have it, with its ending: the names of its labels."""

OF_PROMETHEUS = {"instance", "job"}
"""The labels that Prometheus adds to every sample."""
METRIC = re.compile(r"\b(?:\w+:)?(?:retail|process)_[\w:]*|\bup\b")
FILTERED = re.compile(r"\{([^}]*)\}")
GROUPED = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")


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
    row = SUBSCRIPTIONS.examples[0]
    log.publish((SUBSCRIPTIONS.name, 0), encode_key(SUBSCRIPTIONS, row), encode(SUBSCRIPTIONS, row))
    for late in (
        "retail_pipeline_lag_records{",
        "retail_quarantine_records_total{",
        "retail_subscription_lag_records{",
    ):
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


def check_names(query: str, known: Labels) -> None:
    """It is a query, its metrics are there, with the labels that it filters and groups by."""
    promql_parser.parse(query)
    metrics = set(METRIC.findall(FILTERED.sub("", GROUPED.sub("", query))))
    assert metrics
    assert metrics <= known.keys(), query
    filtered = re.findall(r"(\w+)\s*[=!]", " ".join(FILTERED.findall(query)))
    grouped = re.findall(r"\w+", " ".join(GROUPED.findall(query)))
    there = OF_PROMETHEUS.union(*(known[one] for one in metrics))
    assert {*filtered, *grouped} <= there, query
