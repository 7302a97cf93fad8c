"""Clients under whose settings nothing is lost, and topics that refuse what nobody can count."""

from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from contracts.validation import VALIDATED
from infra.kafka import KafkaDown, apply_topics, build_client_config, is_answering, topics
from infra.security.passwords import draw_password
from infra.settings import Settings
from tests.ports import free_port_base


def test_a_remote_kafka_gets_its_security(tmp_path: Path) -> None:
    remote = {
        "kafka_bootstrap_servers": "kafka.example:9093",
        "kafka_sasl_mechanism": "SCRAM-SHA-512",
        "kafka_sasl_username": "shop",
        "kafka_sasl_password": "hush",
        "kafka_ssl_ca_location": tmp_path / "ca.pem",
    }
    assert build_client_config(Settings.model_validate(remote)) == {
        "bootstrap.servers": "kafka.example:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "shop",
        "sasl.password": "hush",
        "ssl.ca.location": str(tmp_path / "ca.pem"),
    }


def test_a_secure_broker_is_told_which_service_asks(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port_base=8100, secure=True).as_service("api")
    password = draw_password(settings, "api")
    assert build_client_config(settings) == {
        "bootstrap.servers": "127.0.0.1:9192",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "api",
        "sasl.password": password,
        "ssl.ca.location": str(tmp_path / "security" / "authority.pem"),
    }


SPARK_MS_MAX = 2**63 // 1000


def test_a_broker_that_is_down_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Settings(data_dir=tmp_path, port_base=free_port_base())
    assert not is_answering(nowhere, seconds_max=0.2)
    monkeypatch.setattr(topics, "REQUEST_SECONDS_MAX", 0.2)
    with pytest.raises(KafkaDown, match=r"does not answer on 127\.0\.0\.1:\d+\. .*make up"):
        apply_topics(nowhere, {})


@pytest.mark.e2e
@pytest.mark.parametrize("far_ms", [SPARK_MS_MAX + 1, -SPARK_MS_MAX - 1, 2**63 - 1, -(2**63)])
def test_a_timestamp_that_spark_cannot_count_is_in_no_topic(kafka: Settings, far_ms: int) -> None:
    """A pipeline would end at such a record, and so would its replay."""
    client = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    errors: list[KafkaError | None] = []
    for topic in VALIDATED:
        client.produce(topic, timestamp=far_ms, on_delivery=lambda error, _: errors.append(error))
    assert client.flush(30) == 0
    refused = [error and error.code() for error in errors]
    assert refused == [KafkaError.INVALID_TIMESTAMP] * len(VALIDATED)
