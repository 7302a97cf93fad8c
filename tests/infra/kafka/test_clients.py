"""Clients under whose settings nothing is lost, repeated, or put into another partition."""

from pathlib import Path

from infra.kafka import build_client_config
from infra.security.passwords import draw_password
from infra.settings import Settings


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
