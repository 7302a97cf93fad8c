"""The example of a Kafka that others run: Strimzi's."""

import re

import yaml

from infra.broker.properties import render_server_properties
from infra.settings import Settings
from tests.infra.kubernetes.rendered import MANIFESTS, render, settings


def test_strimzis_kafka_is_where_the_overlay_looks_and_is_told_what_three_of_ours_are() -> None:
    text = (MANIFESTS / "examples" / "strimzi.yaml").read_text()
    kafka = {one["kind"]: one for one in yaml.safe_load_all(text)}
    known = settings(render("outside-kafka"))
    name, namespace = (kafka["Kafka"]["metadata"][key] for key in ("name", "namespace"))
    [listener] = kafka["Kafka"]["spec"]["kafka"]["listeners"]
    address = f"{name}-kafka-bootstrap.{namespace}.svc:{listener['port']}"
    assert known["KAFKA_BOOTSTRAP_SERVERS"] == address
    assert listener["tls"] is True
    assert known["KAFKA_SASL_MECHANISM"].lower() == listener["authentication"]["type"]
    assert int(known["KAFKA_REPLICATION_FACTOR"]) == kafka["KafkaNodePool"]["spec"]["replicas"]
    voters = ",".join(f"{number}@broker-{number}:9093" for number in (1, 2, 3))
    one = Settings(broker_voters=voters, broker_address="broker-1:9094")
    ours = dict(re.findall(r"^(.*?)=(.*)$", render_server_properties(one), re.MULTILINE))
    config = kafka["Kafka"]["spec"]["kafka"]["config"]
    told = {name: str(value).lower() for name, value in config.items()}
    assert told.keys() >= {name for name in ours if "replication.factor" in name or "isr" in name}
    assert told == {name: ours[name] for name in told}
