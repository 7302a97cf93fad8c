"""What a query of Prometheus names, found by a parser of its language."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import promql_parser as promql

from tests.infra.observability.figures import Labels

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
