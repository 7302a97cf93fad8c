"""A cluster's parts, by what `docker inspect` says. A real one: tests/e2e/test_cluster.py."""

from random import Random
from typing import Any

import pytest

from infra.settings import Settings
from ops.faults import cluster
from ops.faults.cluster import (
    Container,
    NoCluster,
    derive_settings,
    list_containers,
    list_losses,
    name_parts,
)
from ops.faults.fault import Scene

ENVIRONMENT = ("PIPELINES=inventory,reorder", "SIMULATOR_STORES=2", "SIMULATOR_REFILL=orders", "X=")


def inspect(service: str, number: int = 1, port: int | None = None, pid: int = 7) -> dict[str, Any]:
    """As docker tells of a container that is published on one port."""
    published = {"9092/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(port)}], "9094/tcp": None}
    labels = {"service": service, "container-number": str(number)}
    labels = {f"com.docker.compose.{name}": value for name, value in labels.items()}
    return {
        "Name": f"/retail-{service}-{number}",
        "State": {"Pid": pid},
        "Config": {"Labels": labels, "Env": ENVIRONMENT},
        "NetworkSettings": {"Ports": published if port else {}},
    }


def parts(*inspected: dict[str, Any]) -> dict[str, Container]:
    return name_parts([Container.parse(container) for container in inspected])


PORTS = {"broker": 9092, "broker-2": 9192, "broker-3": 9292, "api": 8700}
PUBLISHED = [inspect(name, port=port) for name, port in PORTS.items()]
SUPPLIERS = [inspect("supplier", number) for number in (1, 2)]
CLUSTER = parts(*PUBLISHED, *SUPPLIERS, inspect("topics", pid=0))


def test_the_cluster_is_reached_at_its_published_ports_in_its_own_world() -> None:
    reached = derive_settings(Settings(simulator_stores=12), CLUSTER)
    assert reached.bootstrap_servers == "127.0.0.1:9092,127.0.0.1:9192,127.0.0.1:9292"
    assert reached.port_base == 8700
    assert reached.pipeline_names == ("inventory", "reorder")
    assert (reached.simulator_stores, reached.simulator_refill) == (2, "orders")


def test_what_is_no_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [inspect("broker", port=9092), inspect("api", port=8000)]
    with_lake = [*alone, inspect("broker-2", port=9192), inspect("lake")]
    for containers, why in ((alone, "fewer than two brokers run"), (with_lake, "has a lake")):
        monkeypatch.setattr(
            cluster, "list_containers", lambda containers=containers: parts(*containers)
        )
        with pytest.raises(NoCluster, match=why):
            cluster.refuse_elsewhere()


def test_without_docker_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "DOCKER", "no-such-program")
    with pytest.raises(NoCluster, match=r"there is no docker.*make up-docker PROFILE=cluster"):
        list_containers()


def test_a_loss_needs_its_part_and_ends_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(cluster, "list_containers", lambda: CLUSTER)
    assert "topics" not in cluster.find_parts(), "it has ended"
    monkeypatch.setattr(cluster, "run_docker", lambda *words: said.append(words))
    faults = {fault.name: fault for fault in list_losses(("inventory",))}
    assert {"lose-broker-3", "lose-api-2", "lose-spark-worker-1", "lose-inventory"} <= faults.keys()
    loss = faults["lose-supplier-2"]
    scene = Scene(Settings(), {"supplier-2": 7}, 0.0, Random(1))
    assert loss.refusal(scene) is None
    assert faults["lose-broker"].refusal(scene) == "broker does not run in this shop"
    assert loss.do(scene) == "killed supplier-2, which was away for 0 s"
    assert said == [("kill", "retail-supplier-2"), ("start", "retail-supplier-2")]
    assert loss.ends == {"supplier-2"}
