"""The containers know every setting that a person may choose."""

import yaml

from infra.settings import Settings, root
from pipelines.common.pipeline import pipelines

FIXED = {
    "port_base",
    "data_dir",
    "jars_dir",
    "listen_host",
    "broker_address",
    "broker_id",
    "broker_voters",
}
"""What follows from being in a container."""
BROKERS = {"broker", "broker-2", "broker-3"}


def test_every_setting_reaches_every_program() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    choices = {name.upper() for name in Settings.model_fields.keys() - FIXED}
    for name, service in composed["services"].items():
        if name not in BROKERS:
            assert choices <= service["environment"].keys(), name


def test_nothing_is_published_beyond_this_machine() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    ports = [port for one in composed["services"].values() for port in one.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_there_is_a_driver_for_every_pipeline() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    drivers = {
        name: service["environment"]["PIPELINES"]
        for name, service in composed["services"].items()
        if name in service.get("profiles", ())
    }
    assert drivers == {name: name for name in pipelines()}


def test_nobody_runs_without_a_limit_of_memory() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    assert all(one["mem_limit"] for one in composed["services"].values())
