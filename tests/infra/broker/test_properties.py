"""The broker's configuration."""

from pathlib import Path

from infra.broker.properties import server_properties
from infra.settings import Settings


def properties(tmp_path: Path) -> dict[str, str]:
    text = server_properties(Settings(data_dir=tmp_path / "100% odd, folder", port_base=8100))
    return dict(line.split("=", 1) for line in text.splitlines())


def test_the_broker_listens_on_this_machine_only(tmp_path: Path) -> None:
    listeners = properties(tmp_path)["listeners"].split(",")
    assert listeners == ["PLAINTEXT://127.0.0.1:9192", "CONTROLLER://127.0.0.1:9193"]


def test_topics_are_never_made_by_a_typing_mistake(tmp_path: Path) -> None:
    assert properties(tmp_path)["auto.create.topics.enable"] == "false"


def test_no_path_stands_in_it(tmp_path: Path) -> None:
    assert not any("odd" in value for value in properties(tmp_path).values())


def test_one_node_keeps_one_copy_of_everything(tmp_path: Path) -> None:
    factors = [v for name, v in properties(tmp_path).items() if name.endswith("replication.factor")]
    assert factors == ["1", "1", "1"]
