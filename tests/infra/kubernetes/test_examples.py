"""The examples of what others run: an adapter's rule, and Strimzi's Kafka."""

import re
from typing import Any

import yaml

from infra.broker.properties import render_server_properties
from infra.settings import Settings, locate_root
from tests.infra.kubernetes.rendered import MANIFESTS, render, settings
from tests.infra.observability.queries import list_groupings, list_selectors

EXAMPLES = MANIFESTS / "examples"
RULES = locate_root() / "infra" / "observability" / "prometheus" / "recording.yml"


def read(name: str) -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def test_the_autoscaler_asks_for_the_metric_that_the_adapter_serves() -> None:
    [values] = read("prometheus-adapter.yaml")
    [rule] = values["rules"]["custom"]
    component = (MANIFESTS / "components" / "latency" / "kustomization.yaml").read_text()
    assert f"metric: {{name: {rule['name']['as']}}}" in component
    series = rule["seriesQuery"].partition("{")[0]
    query = rule["metricsQuery"].replace("<<.Series>>", series).replace("<<.GroupBy>>", "pod")
    query = query.replace("<<.LabelMatchers>>", 'namespace="retail"')
    [selector] = list_selectors(query)
    assert selector.metric == series
    assert list_groupings(query) == {"le", "pod"}
    assert series in RULES.read_text()  # whose every metric a real API has, by another test


def test_strimzis_kafka_is_where_the_overlay_looks_for_it() -> None:
    kafka = {one["kind"]: one for one in read("strimzi.yaml")}
    known = settings(render("outside-kafka"))
    name, namespace = (kafka["Kafka"]["metadata"][key] for key in ("name", "namespace"))
    [listener] = kafka["Kafka"]["spec"]["kafka"]["listeners"]
    address = f"{name}-kafka-bootstrap.{namespace}.svc:{listener['port']}"
    assert known["KAFKA_BOOTSTRAP_SERVERS"] == address
    assert listener["tls"] is True
    assert known["KAFKA_SASL_MECHANISM"].lower() == listener["authentication"]["type"]
    assert int(known["KAFKA_REPLICATION_FACTOR"]) == kafka["KafkaNodePool"]["spec"]["replicas"]


def test_strimzis_kafka_is_told_what_three_brokers_of_ours_are() -> None:
    [kafka] = [one for one in read("strimzi.yaml") if one["kind"] == "Kafka"]
    voters = ",".join(f"{number}@broker-{number}:9093" for number in (1, 2, 3))
    one = Settings(broker_voters=voters, broker_address="broker-1:9094")
    ours = dict(re.findall(r"^(.*?)=(.*)$", render_server_properties(one), re.MULTILINE))
    told = {name: str(value).lower() for name, value in kafka["spec"]["kafka"]["config"].items()}
    assert told.keys() >= {name for name in ours if "replication.factor" in name or "isr" in name}
    assert told == {name: ours[name] for name in told}
