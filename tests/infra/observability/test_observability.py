"""Prometheus' rules, Grafana's dashboards and the guide: what they name a real API has."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from contracts import ALERTS as ALERT
from contracts import QUARANTINE, encode, encode_key
from infra.settings import Settings, locate_root
from tests.guide import Reader, read_blocks
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.showing import PIPELINES, Shop, write_checks

FOLDER = locate_root() / "infra" / "observability" / "prometheus"
OF_PROMETHEUS = {"instance", "job"}
"""The labels that Prometheus adds to every sample."""
GROUPED = re.compile(r"\b(?:by|on) \(([^)]*)\)")

Labels = Mapping[str, set[str]]
"""By a metric's name as queries have it, with its ending: the names of its labels."""


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """An API over a small shop in memory, which has a sample for every metric."""
    log = MemoryLog()
    home = tmp_path_factory.mktemp("api")
    write_checks(home)
    with serving(create_sources(log, home)) as api:
        fill(log, api)
        yield api


def fill(log: MemoryLog, api: Answers) -> None:
    shop = Shop(log)
    for pipeline in PIPELINES:
        api.ready(pipeline=pipeline)
    row = QUARANTINE.examples[0]
    log.publish((QUARANTINE.name, 0), encode_key(QUARANTINE, row), encode(QUARANTINE, row))
    shop.fraud.put(ALERT, signals_left_out=3)
    api.ready(shop.fraud.mark(), "fraud")
    shop.inventory.mark_again(1, took_ms=400, state_bytes=70_000)
    api.ready(1)
    late = ("retail_pipeline_lag_records{", "retail_quarantine_records_total{")
    api.until(lambda: all(name in api.get("/metrics").text for name in late))
    api.get("/v1/stock")


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


def read_composed() -> Any:
    return yaml.safe_load((locate_root() / "docker-compose.yml").read_text())["services"]


def list_rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in read(name)["groups"] for rule in group["rules"]]


RECORDED = {rule["record"]: rule["expr"] for rule in list_rules("recording.yml")}
ALERTS = {rule["alert"]: rule for rule in list_rules("alerting.yml")}
QUERIES = {**RECORDED, **{name: rule["expr"] for name, rule in ALERTS.items()}}


def read_labels(api: Answers) -> Labels:
    """Of every metric that has a sample, of those that rules record, and of Prometheus' own."""
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(api.get("/metrics").text):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    recorded = {name: list_result_labels(expr, labels) for name, expr in RECORDED.items()}
    return {**labels, **recorded, "up": set()}


def list_selectors(expression: promql.Expr) -> Iterator[promql.VectorSelector]:
    """The metrics of a query, with the labels that it filters each by."""
    if isinstance(expression, promql.VectorSelector):
        yield expression
    elif isinstance(expression, promql.MatrixSelector):
        yield expression.vector_selector
    elif isinstance(expression, promql.BinaryExpr):
        yield from list_selectors(expression.lhs)
        yield from list_selectors(expression.rhs)
    elif isinstance(expression, promql.Call):
        for argument in expression.args:
            yield from list_selectors(argument)
    elif isinstance(expression, promql.AggregateExpr | promql.ParenExpr):
        yield from list_selectors(expression.expr)


def check_names(query: str, by_metric: Labels) -> None:
    """Its metrics are there, with the labels that it filters and groups by."""
    selectors = list(list_selectors(promql.parse(query)))
    assert selectors
    labels = set(OF_PROMETHEUS)
    for selector in selectors:
        metric = str(selector.name)
        assert metric in by_metric, f"/metrics has no {metric}"
        filtered = {matcher.name for matcher in selector.matchers.matchers}
        assert filtered <= by_metric[metric] | OF_PROMETHEUS, metric
        labels |= by_metric[metric]
    for grouping in GROUPED.findall(query):
        assert set(grouping.split(", ")) <= labels


def list_result_labels(query: str, by_metric: Labels) -> set[str]:
    """The labels that its results have: those of its first grouping, or else its metrics' own."""
    if grouping := GROUPED.search(query):
        labels = set(grouping[1].split(", "))
        return labels - {"le"} if "histogram_quantile" in query else labels
    selectors = list_selectors(promql.parse(query))
    return OF_PROMETHEUS.union(*(by_metric[str(selector.name)] for selector in selectors))


@pytest.mark.parametrize("name", QUERIES)
def test_a_rule_names_metrics_and_labels_that_there_are(name: str, observed: Answers) -> None:
    check_names(QUERIES[name], read_labels(observed))


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_holds_and_where_to_look(name: str, observed: Answers) -> None:
    alert, by_metric = ALERTS[name], read_labels(observed)
    assert alert["labels"]["severity"] in {"critical", "warning", "info"}
    assert alert["annotations"].keys() == {"summary", "runbook"}
    used = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
    assert used <= list_result_labels(alert["expr"], by_metric)


def test_prometheus_reads_the_rules_and_asks_every_api() -> None:
    config = read("prometheus.yml")
    assert {FOLDER / name for name in config["rule_files"]} == {
        file for file in FOLDER.glob("*.yml") if file.name != "prometheus.yml"
    }
    composed = read_composed()
    apis = {
        name for name, service in composed.items() if "services.api" in service.get("command", [])
    }
    [job] = config["scrape_configs"]
    [asked] = job["dns_sd_configs"]
    assert job["job_name"] == "retail"
    assert set(asked["names"]) == apis
    assert all(composed[api]["ports"][0].endswith(f":{asked['port']}") for api in apis)


GRAFANA = locate_root() / "infra" / "observability" / "grafana"
FILES = sorted(GRAFANA.glob("dashboards/*.json"))
DASHBOARDS = {file.stem: json.loads(file.read_text()) for file in FILES}
PANELS = [
    pytest.param(panel, id=f"{name}: {panel['title']}")
    for name, dashboard in DASHBOARDS.items()
    for panel in dashboard["panels"]
]
VALUES = re.compile(r"label_values\((\w+), (\w+)\)")


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_draws_what_there_is_in_a_unit(panel: Any, observed: Answers) -> None:
    by_metric = read_labels(observed)
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]
    for target in panel["targets"]:
        check_names(target["expr"], by_metric)
        legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert legend <= list_result_labels(target["expr"], by_metric)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_what_a_dashboard_can_be_narrowed_to_is_there(name: str, observed: Answers) -> None:
    by_metric = read_labels(observed)
    asked = {
        variable["name"]: variable["query"] for variable in DASHBOARDS[name]["templating"]["list"]
    }
    for query in asked.values():
        match = VALUES.fullmatch(query)
        assert match
        assert match[2] in by_metric[match[1]]
    text = json.dumps(DASHBOARDS[name]["panels"])
    assert set(re.findall(r"=~\\\"\$(\w+)\\\"", text)) == asked.keys()


def test_all_asks_the_prometheus_that_grafana_is_given() -> None:
    [file] = GRAFANA.glob("provisioning/datasources/*.yml")
    [source] = yaml.safe_load(file.read_text())["datasources"]
    wanted = {"type": source["type"], "uid": source["uid"]}
    assert len({dashboard["uid"] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS) > 0
    for dashboard in DASHBOARDS.values():
        for panel in dashboard["panels"]:
            assert panel["datasource"] == wanted
            assert all(target["datasource"] == wanted for target in panel["targets"])
    assert source["url"] == "http://prometheus:9090"
    assert read_composed()["prometheus"]["ports"][0].endswith(":9090")


GUIDE = locate_root() / "docs" / "observability.md"


def test_whoever_follows_it_sees_the_lag(observed: Answers, tmp_path: Path) -> None:
    port = int(observed.address.rpartition(":")[2])
    here = Settings(data_dir=tmp_path / "data").model_copy(update={"port_base": port})
    [look] = read_blocks(GUIDE)["sh"]
    seen = Reader(here, tmp_path).shell(look)
    assert 'retail_pipeline_lag_records{pipeline="inventory"' in seen


def test_its_table_names_every_metric(observed: Answers) -> None:
    named = re.findall(r"^\| `(retail_\w+)` \|", GUIDE.read_text(), re.MULTILINE)
    families = text_string_to_metric_families(observed.get("/metrics").text)
    metrics = (
        f"{family.name}_total" if family.type == "counter" else family.name for family in families
    )
    assert sorted(named) == sorted(name for name in metrics if name.startswith("retail_"))
