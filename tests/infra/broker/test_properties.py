from pathlib import Path
from typing import Any

import pytest

from infra.broker.properties import render_server_properties
from infra.errors import UserError
from infra.security.passwords import BROKER, draw_password
from infra.settings import Settings


def render(tmp_path: Path, **others: Any) -> dict[str, str]:
    settings = Settings(data_dir=tmp_path / "100% odd, folder", port_base=8100, **others)
    text = render_server_properties(settings)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_the_broker_listens_on_this_machine_only(tmp_path: Path) -> None:
    listeners = render(tmp_path)["listeners"].split(",")
    assert listeners == ["PLAINTEXT://127.0.0.1:9192", "CONTROLLER://127.0.0.1:9193"]


def test_one_of_three_keeps_what_a_lost_broker_would_take_away(tmp_path: Path) -> None:
    voters = "1@one:9093,2@two:9093,3@three:9093"
    found = render(tmp_path, listen_host="0.0.0.0", broker_address="two:9094", broker_voters=voters)
    assert found["node.id"] == "2"
    assert found["controller.quorum.voters"] == voters
    assert "controller.quorum.bootstrap.servers" not in found
    assert "CONTROLLER://two:9093" in found["listeners"].split(",")
    assert found["inter.broker.listener.name"] == "NETWORK"
    assert found["controlled.shutdown.enable"] == "false"
    assert found["unclean.leader.election.enable"] == "false"
    assert "NETWORK://two:9094" in found["advertised.listeners"].split(",")
    copies = [value for name, value in found.items() if name.endswith("replication.factor")]
    assert copies == ["3", "3", "3"]
    assert [value for name, value in found.items() if name.endswith("min.isr")] == ["2", "2"]


def test_a_broker_that_is_not_among_the_voters_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="BROKER_VOTERS should name this broker"):
        render(tmp_path, broker_address="four:9094", broker_voters="1@one:1,2@two:1")


def test_a_secure_broker_listens_by_tls_alone_and_refuses_by_default(tmp_path: Path) -> None:
    draw_password(Settings(data_dir=tmp_path / "100% odd, folder"), BROKER)
    found = render(tmp_path, secure=True)
    assert found["listeners"] == "SASL_SSL://127.0.0.1:9192,CONTROLLER://127.0.0.1:9193"
    protocols = "SASL_SSL:SASL_SSL,NETWORK:SASL_SSL,CONTROLLER:SSL"
    assert found["listener.security.protocol.map"] == protocols
    assert "PLAINTEXT" not in str(found)
    assert found["ssl.enabled.protocols"] == "TLSv1.3,TLSv1.2"
    assert found["listener.name.controller.ssl.client.auth"] == "required"
    assert found["authorizer.class.name"].endswith(".StandardAuthorizer")
    assert found["allow.everyone.if.no.acl.found"] == "false"
    assert found["super.users"] == "User:broker;User:CN=broker;User:operator"
    assert not any("odd" in value for value in found.values())


def test_other_hosts_reach_a_secure_broker_by_tls_and_with_a_password_too(tmp_path: Path) -> None:
    password = draw_password(Settings(data_dir=tmp_path / "100% odd, folder"), BROKER)
    found = render(tmp_path, secure=True, listen_host="0.0.0.0", broker_address="broker:9094")
    listeners = "SASL_SSL://0.0.0.0:9192,NETWORK://0.0.0.0:9094,CONTROLLER://127.0.0.1:9193"
    assert found["listeners"] == listeners
    assert found["advertised.listeners"] == "SASL_SSL://127.0.0.1:9192,NETWORK://broker:9094"
    assert "NETWORK:SASL_SSL" in found["listener.security.protocol.map"].split(",")
    login = found["listener.name.network.scram-sha-512.sasl.jaas.config"]
    assert login.endswith("ScramLoginModule required;")
    [told] = [name for name, value in found.items() if password in value]
    assert told == "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config"
