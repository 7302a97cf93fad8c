"""Grafana's dashboards: what they draw is there, has a unit, and is found by its datasource."""

import json
import re
from typing import Any

import pytest
import yaml

from infra.settings import locate_root
from tests.infra.observability.figures import OF_PROMETHEUS, check_names, read_labels
from tests.infra.observability.test_rules import with_recorded
from tests.services.serving import Answers

FOLDER = locate_root() / "infra" / "observability" / "grafana"
DASHBOARDS = {
    file.stem: json.loads(file.read_text()) for file in sorted(FOLDER.glob("dashboards/*.json"))
}
PANELS = [
    pytest.param(panel, id=f"{name}: {panel['title']}")
    for name, dashboard in DASHBOARDS.items()
    for panel in dashboard["panels"]
]
VALUES = re.compile(r"label_values\((\w+), (\w+)\)")


def provisioned(kind: str) -> Any:
    [file] = (FOLDER / "provisioning" / kind).glob("*.yml")
    return yaml.safe_load(file.read_text())


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_draws_what_there_is_in_a_unit(panel: Any, observed: Answers) -> None:
    known = with_recorded(read_labels(observed))
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]
    for target in panel["targets"]:
        check_names(target["expr"], known)
        legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert legend <= OF_PROMETHEUS.union(*known.values())


@pytest.mark.parametrize("name", DASHBOARDS)
def test_what_a_dashboard_can_be_narrowed_to_is_there(name: str, observed: Answers) -> None:
    known = read_labels(observed)
    asked = {one["name"]: one["query"] for one in DASHBOARDS[name]["templating"]["list"]}
    for query in asked.values():
        match = VALUES.fullmatch(query)
        assert match
        assert match[2] in known[match[1]]
    text = json.dumps(DASHBOARDS[name]["panels"])
    assert set(re.findall(r"=~\\\"\$(\w+)\\\"", text)) == asked.keys()


def test_all_asks_the_prometheus_that_grafana_is_given() -> None:
    [source] = provisioned("datasources")["datasources"]
    wanted = {"type": source["type"], "uid": source["uid"]}
    assert len({one["uid"] for one in DASHBOARDS.values()}) == len(DASHBOARDS) > 0
    for dashboard in DASHBOARDS.values():
        for panel in dashboard["panels"]:
            assert panel["datasource"] == wanted
            assert all(target["datasource"] == wanted for target in panel["targets"])
    composed = yaml.safe_load((locate_root() / "docker-compose.yml").read_text())["services"]
    assert source["url"] == "http://prometheus:9090"
    assert composed["prometheus"]["ports"][0].endswith(":9090")
