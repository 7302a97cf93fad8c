"""What a real API tells Prometheus, and what a query names, by a parser of its language."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce

import promql_parser as promql
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


OF_PROMETHEUS = {"instance", "job"}
"""The labels that Prometheus adds to every sample."""


@dataclass(frozen=True)
class Selector:
    """A metric, and the labels that a query filters it by."""

    metric: str
    labels: frozenset[str]


def list_selectors(query: str) -> list[Selector]:
    """Raises ValueError where it is no query."""
    return [
        Selector(str(one.name), frozenset(each.name for each in one.matchers.matchers))
        for one in walk(promql.parse(query))
        if isinstance(one, promql.VectorSelector)
    ]


def list_groupings(query: str) -> set[str]:
    """The labels that it groups or joins by."""
    return reduce(set.union, map(_list_own_groupings, walk(promql.parse(query))), set())


def check_names(query: str, known: Labels) -> None:
    """Its metrics are there, with the labels that it filters and groups by."""
    selectors = list_selectors(query)
    assert selectors
    for one in selectors:
        assert one.metric in known, f"/metrics has no {one.metric}"
        assert one.labels <= known[one.metric] | OF_PROMETHEUS, one
    labels = set().union(*(known[one.metric] for one in selectors))
    assert list_groupings(query) <= labels | OF_PROMETHEUS


def list_result_labels(query: str, known: Labels) -> set[str]:
    """The labels that its results have, by those that metrics have."""
    return _list_result_labels(promql.parse(query), known)


def _list_result_labels(expression: promql.Expr, known: Labels) -> set[str]:
    if isinstance(expression, promql.VectorSelector):
        return known[str(expression.name)] | OF_PROMETHEUS
    if isinstance(expression, promql.AggregateExpr):
        return set(expression.modifier.labels) if expression.modifier else set()
    parts = (_list_result_labels(part, known) for part in _list_parts(expression))
    labels = next(
        (labelled for labelled in parts if labelled), set()
    )  # joins keep those of their left side
    is_quantile = isinstance(expression, promql.Call) and (
        expression.func.name == "histogram_quantile"
    )
    return labels - {"le"} if is_quantile else labels


def _list_own_groupings(expression: promql.Expr) -> set[str]:
    if isinstance(expression, promql.AggregateExpr) and expression.modifier:
        return set(expression.modifier.labels)
    if isinstance(expression, promql.BinaryExpr) and expression.modifier:
        matching = expression.modifier.matching
        return set(matching.labels) if matching else set()
    return set()


def walk(expression: promql.Expr) -> Iterator[promql.Expr]:
    """The expression and all that it is made of."""
    yield expression
    for part in _list_parts(expression):
        yield from walk(part)


def _list_parts(expression: promql.Expr) -> list[promql.Expr]:
    if isinstance(expression, promql.MatrixSelector):
        return [expression.vector_selector]
    if isinstance(expression, promql.Call):
        return list(expression.args)
    if isinstance(expression, promql.BinaryExpr):
        return [expression.lhs, expression.rhs]
    inner = (promql.AggregateExpr, promql.ParenExpr, promql.UnaryExpr, promql.SubqueryExpr)
    return [expression.expr] if isinstance(expression, inner) else []
