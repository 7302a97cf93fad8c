"""The containers know every setting that a person may choose."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from infra.errors import UserError
from infra.settings import Settings, locate_root, refuse_half_secure
from ops.control.access import list_services
from pipelines.common.pipeline import list_pipelines

FIXED = {"port_base", "data_dir", "jars_dir", "listen_host", "broker_address", "broker_voters"}
"""What follows from being in a container."""
BROKERS = {"broker", "broker-2", "broker-3"}
CLUSTER = {
    "broker-2",
    "broker-3",
    "api-2",
    "api-3",
    "spark-master",
    "spark-worker",
    *list_pipelines(),
}
"""What runs in the cluster alone, which takes no SECURE."""

NAMED = re.compile(r"\$\{(\w+)(?::([-+])([^}]*))?\}")
"""A variable of the file, and what stands for it if it is unset or set."""

Composed = dict[str, Any]


def read_variables(service: str, cluster: bool = False) -> dict[str, str]:
    """The variables of a service of a secure shop, as docker compose reads the file."""
    variables = {"SECURE": "on"}
    for file in (".env", *(["infra/cluster.env"] if cluster else [])):
        text = (locate_root() / file).read_text()
        for name, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
            variables[name] = "on" if name == "SECURE" else interpolate(value, variables)
    text = interpolate((locate_root() / "docker-compose.yml").read_text(), variables)
    told = yaml.safe_load(text)["services"][service]["environment"]
    given = {
        name: variables.get(name, "") if told[name] is None else str(told[name]) for name in told
    }
    return {name.lower(): value for name, value in given.items() if value}


def interpolate(text: str, variables: Mapping[str, str]) -> str:
    def find(found: re.Match[str]) -> str:
        value, sign, word = variables.get(found[1], ""), found[2], found[3] or ""
        if sign == "+":
            return word if value else ""
        return value or word

    return NAMED.sub(find, text)


@pytest.fixture(scope="module")
def composed() -> Composed:
    """The file as it is written, variables and all."""
    return dict(yaml.safe_load((locate_root() / "docker-compose.yml").read_text()))


def test_every_setting_reaches_every_program(composed: Composed) -> None:
    choices = {name.upper() for name in Settings.model_fields.keys() - FIXED}
    for name, service in composed["services"].items():
        if "build" in service and name not in BROKERS:
            assert choices <= service["environment"].keys(), name


def test_nothing_is_published_beyond_this_machine(composed: Composed) -> None:
    ports = [port for service in composed["services"].values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_each_program_of_a_secure_shop_logs_in_as_a_service_that_has_a_password(
    composed: Composed,
) -> None:
    told = {
        name: service["environment"]["KAFKA_SERVICE"]
        for name, service in composed["services"].items()
        if "build" in service and name not in BROKERS | set(CLUSTER)
    }
    assert told.pop("topics") is None, "it is a command, and those are the operator's"
    assert told == {name: name for name in told}
    assert set(told) <= set(list_services())


@pytest.mark.parametrize("service", ["broker", "topics", "pipelines", "api"])
def test_certificates_of_a_secure_shop_name_every_host_that_its_programs_ask(service: str) -> None:
    settings = Settings.model_validate(read_variables(service) | {"data_dir": "/data"})
    assert settings.secure
    refuse_half_secure(settings)
    assert {"broker", "api"} <= set(settings.hosts)


@pytest.mark.parametrize("service", ["broker", "broker-2", "topics", "inventory"])
def test_a_cluster_with_secure_is_refused_by_its_programs(service: str) -> None:
    settings = Settings.model_validate(read_variables(service, cluster=True))
    with pytest.raises(UserError, match="SECURE protects"):
        refuse_half_secure(settings)


def test_there_is_a_driver_for_every_pipeline(composed: Composed) -> None:
    drivers = {
        name: service["environment"]["PIPELINES"]
        for name, service in composed["services"].items()
        if name in service.get("profiles", ())
    }
    assert drivers == {name: name for name in list_pipelines()}


def test_images_of_others_are_pinned(composed: Composed) -> None:
    others = {
        name: service for name, service in composed["services"].items() if "build" not in service
    }
    assert others.keys() == {"prometheus", "grafana"}
    for name, service in others.items():
        assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}", service["image"]), name
