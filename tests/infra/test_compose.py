"""The containers know every setting that a person may choose."""

import yaml

from infra.settings import Settings, root

FIXED = {"port_base", "data_dir", "jars_dir", "listen_host", "broker_address"}
"""What follows from being in a container."""


def test_every_setting_reaches_every_program() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    choices = {name.upper() for name in Settings.model_fields.keys() - FIXED}
    for name, service in composed["services"].items():
        if name != "broker":
            assert choices <= service["environment"].keys(), name


def test_nothing_is_published_beyond_this_machine() -> None:
    composed = yaml.safe_load((root() / "docker-compose.yml").read_text())
    ports = [port for one in composed["services"].values() for port in one.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
