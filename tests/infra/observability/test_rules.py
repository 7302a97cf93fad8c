"""Rules of Prometheus: each is a query of metrics that a real API has, and says what to do."""

import re
from typing import Any

import pytest
import yaml

from infra.settings import locate_root
from tests.infra.observability.figures import (
    GROUPED,
    OF_PROMETHEUS,
    Labels,
    check_names,
    read_labels,
)
from tests.services.serving import Answers

FOLDER = locate_root() / "infra" / "observability" / "prometheus"
SEVERITIES = {"critical", "warning", "info"}


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


def list_rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in read(name)["groups"] for rule in group["rules"]]


RECORDED = {rule["record"]: rule["expr"] for rule in list_rules("recording.yml")}
ALERTS = {rule["alert"]: rule for rule in list_rules("alerting.yml")}
QUERIES = {**RECORDED, **{name: rule["expr"] for name, rule in ALERTS.items()}}


def with_recorded(labels: Labels) -> Labels:
    """The API's metrics, those that rules record, and the one that Prometheus adds."""
    recorded = {
        name: set(re.findall(r"\w+", ",".join(GROUPED.findall(expr))))
        for name, expr in RECORDED.items()
    }
    return {**labels, **recorded, "up": set()}


@pytest.mark.parametrize("name", QUERIES)
def test_a_rule_names_metrics_and_labels_that_there_are(name: str, observed: Answers) -> None:
    check_names(QUERIES[name], with_recorded(read_labels(observed)))


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_holds_and_where_to_look(name: str, observed: Answers) -> None:
    alert, known = ALERTS[name], with_recorded(read_labels(observed))
    assert re.fullmatch(r"Retail[A-Za-z]+", name)
    assert alert["labels"]["severity"] in SEVERITIES
    assert alert["annotations"].keys() == {"summary", "runbook"}
    used = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
    grouped = re.findall(r"\w+", ",".join(GROUPED.findall(alert["expr"])))
    recorded = [known[record] for record in RECORDED if record in alert["expr"]]
    assert used <= OF_PROMETHEUS.union(grouped, *recorded)


def test_prometheus_reads_the_rules_and_asks_every_api() -> None:
    config = read("prometheus.yml")
    assert {FOLDER / name for name in config["rule_files"]} == {
        file for file in FOLDER.glob("*.yml") if file.name != "prometheus.yml"
    }
    composed = yaml.safe_load((locate_root() / "docker-compose.yml").read_text())["services"]
    commands = {name: one.get("command", []) for name, one in composed.items()}
    apis = {name for name, command in commands.items() if command[-1:] == ["services.api"]}
    [job] = config["scrape_configs"]
    [asked] = job["dns_sd_configs"]
    assert job["job_name"] == "retail"
    assert set(asked["names"]) == apis
    assert all(composed[api]["ports"][0].endswith(f":{asked['port']}") for api in apis)
