"""The manifests start what docker-compose.yml starts; no cluster is asked."""

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

import kubernetes_validate
import pytest

from infra.broker.properties import render_server_properties
from infra.settings import Settings, locate_root
from tests.infra.kubernetes.composed import compose, main_name
from tests.infra.kubernetes.rendered import (
    OVERLAYS,
    Resource,
    config,
    containers,
    environment,
    labels,
    of_kind,
    pod,
    program,
    render,
    render_own,
    settings,
    workloads,
)

KUBERNETES = "1.37"
"""Whose schemas the manifests are checked against."""
GUIDE = locate_root() / "docs" / "kubernetes.md"
ORDERS = {"SIMULATOR_REFILL": "orders", "PIPELINES": "inventory,fraud,analytics,visits,reorder"}
MORE = {"LAKE": "on"}
MIB = {"m": 1, "g": 1024, "Mi": 1, "Gi": 1024}
GB = 1e9
PLACE = re.compile(r"broker-(\d)\.brokers\.retail\.svc\.cluster\.local")
EXECUTOR = "SPARK_EXECUTOR_MEMORY"
FINDS_ITSELF = {"PORT_BASE", EXECUTOR}
"""Ports of the machine around the containers, and what only drivers are told."""
SECURED = {"KAFKA_SERVICE"}
"""What containers of a secure shop are told; the manifests start none."""
NAMED = "SHOP_HOSTS"
"""The names of the API, which are others in a cluster."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Resource]:
    """The overlay that the document shows: the cluster with orders, the lake and more."""
    [shown] = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return render_own(tmp_path_factory.mktemp("own"), shown)


@pytest.fixture(scope="module", params=[*OVERLAYS, "own"])
def manifests(request: pytest.FixtureRequest) -> Sequence[Resource]:
    if request.param == "own":
        found: Sequence[Resource] = request.getfixturevalue("own")
        return found
    return render(request.param)


def test_kubernetes_knows_every_field(own: Sequence[Resource]) -> None:
    every = (one for each in (*map(render, OVERLAYS), own) for one in each)
    # What several overlays have in common is looked at once.
    different = {json.dumps(one, sort_keys=True): one for one in every}
    for one in different.values():
        kubernetes_validate.validate(one, KUBERNETES, strict=True)


@pytest.mark.parametrize(
    ("overlay", "cluster", "chosen"),
    [
        ("single", False, {}),
        ("cluster", True, {}),
        ("own", True, {**ORDERS, **MORE}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_runs_is_what_the_compose_file_runs(
    overlay: str, cluster: bool, chosen: dict[str, str], own: Sequence[Resource]
) -> None:
    resources = own if overlay == "own" else render(overlay)
    services, found = compose(cluster, **chosen), workloads(resources)
    assert found.keys() == {main_name(name) for name in services}
    for name, service in services.items():
        workload = found[main_name(name)]
        assert describe_workload(workload) == describe_service(service), name
        assert environ(workload, resources) == environ_of(service, workload), name
        memory = environment(workload, resources).get(EXECUTOR)
        assert memory in (None, service["environment"].get(EXECUTOR)), name


def describe_service(service: Resource) -> dict[str, Any]:
    """What has to be the same of a container, wherever it runs."""
    user, group = map(int, service["user"].split(":"))
    check = service.get("healthcheck", {})
    return {
        "image": service["image"],
        "command": service.get("command") or read_default_command(service),
        "user": (user, group),
        "root is read only": service["read_only"],
        "dropped": service["cap_drop"],
        "may gain privileges": "no-new-privileges:true" not in service["security_opt"],
        "memory": mebibytes(service["mem_limit"]),
        "grace": seconds(service["stop_grace_period"]),
        "asked": check.get("test", [None])[1:],
        "asked every": (seconds(check.get("interval")), seconds(check.get("start_interval"))),
        "has to answer within": seconds(check.get("timeout")),
        "may fail": check.get("retries"),
        "waits for topics": "topics" in service["depends_on"],
    }


def read_default_command(service: Resource) -> Any:
    """What the service's image starts."""
    built = (locate_root() / service["build"]["dockerfile"]).read_text()
    stage = built.partition(f" AS {service['build']['target']}\n")[2].partition("\nFROM ")[0]
    return json.loads(stage.rpartition("\nCMD ")[2])


def describe_workload(workload: Resource) -> dict[str, Any]:
    container, pods = program(workload), pod(workload)
    security = {**pods["securityContext"], **container["securityContext"]}
    ready, started = container.get("readinessProbe", {}), container.get("startupProbe", {})
    assert ready.get("exec") == started.get("exec")
    assert "command" not in container, "it would replace the image's entry point, tini"
    waiting = [one["name"] for one in pods.get("initContainers", ())]
    return {
        "image": container["image"].rpartition(":")[0],
        "command": container["args"],
        "user": (security["runAsUser"], security["runAsGroup"]),
        "root is read only": security["readOnlyRootFilesystem"],
        "dropped": security["capabilities"]["drop"],
        "may gain privileges": security["allowPrivilegeEscalation"],
        "memory": mebibytes(container["resources"]["limits"]["memory"]),
        "grace": pods["terminationGracePeriodSeconds"],
        "asked": ready.get("exec", {}).get("command", []),
        "asked every": (ready.get("periodSeconds"), started.get("periodSeconds")),
        "has to answer within": ready.get("timeoutSeconds"),
        "may fail": ready.get("failureThreshold"),
        "waits for topics": "topics" in waiting,
    }


def mebibytes(text: str) -> int:
    """Of a size as Kubernetes or Docker write it."""
    number = re.sub(r"\D", "", text)
    return int(number) * MIB[text.removeprefix(number)]


def seconds(text: str | None) -> int | None:
    return None if text is None else int(text.removesuffix("s"))


def environ(workload: Resource, resources: Sequence[Resource]) -> dict[str, str]:
    """The variables that are set, but for addresses of brokers, which have a test of their own."""
    known = environment(workload, resources)
    return {
        name: value
        for name, value in known.items()
        if value and not name.startswith("BROKER_") and name not in (EXECUTOR, NAMED)
    }


def environ_of(service: Resource, workload: Resource) -> dict[str, str]:
    told = {
        name: value
        for name, value in service["environment"].items()
        if value and not name.startswith("BROKER_") and name not in FINDS_ITSELF | SECURED | {NAMED}
    }
    if "KAFKA_BOOTSTRAP_SERVERS" in told:
        # One service leads to whichever of the brokers is ready.
        told["KAFKA_BOOTSTRAP_SERVERS"] = told["KAFKA_BOOTSTRAP_SERVERS"].split(",")[0]
    return told


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_api_answers_to_the_name_that_programs_ask(overlay: str) -> None:
    resources = render(overlay)
    api = environment(workloads(resources)["api"], resources)
    asked = environment(workloads(resources)["simulator"], resources)["API_ADDRESS"]
    assert asked.partition(":")[0] in api[NAMED].split(",")
    [port] = program(workloads(resources)["api"])["ports"]
    assert asked.partition(":")[2] == str(port["containerPort"])


@pytest.mark.parametrize(("overlay", "cluster"), [("single", False), ("cluster", True)])
def test_a_broker_has_the_properties_of_its_twin(overlay: str, cluster: bool) -> None:
    services = compose(cluster)
    twins = [name for name in services if main_name(name) == "broker"]
    workload = workloads(render(overlay))["broker"]
    first = workload["spec"]["ordinals"]["start"]
    assert workload["spec"]["replicas"] == len(twins)
    for number, twin in enumerate(twins, first):
        told = environment(workload, ())
        address = told["BROKER_ADDRESS"].replace("$(POD_NAME)", f"broker-{number}")
        ours = {**told, "BROKER_ADDRESS": address}
        theirs = {**services[twin]["environment"], "PORT_BASE": ""}
        assert properties(ours) == properties(theirs)


def properties(variables: dict[str, str]) -> str:
    """server.properties of a broker with these variables; brokers are named as in compose."""
    known: dict[str, Any] = {name.lower(): value for name, value in variables.items() if value}
    text = render_server_properties(Settings(**known))
    return PLACE.sub(lambda found: "broker" if found[1] == "1" else f"broker-{found[1]}", text)


def test_every_setting_is_one_and_has_a_value_that_is_taken(
    manifests: Sequence[Resource],
) -> None:
    known: dict[str, Any] = {name.lower(): value for name, value in settings(manifests).items()}
    assert known.keys() <= Settings.model_fields.keys()
    Settings(**known)


def test_every_image_has_the_version_of_the_project(manifests: Sequence[Resource]) -> None:
    version = tomllib.loads((locate_root() / "pyproject.toml").read_text())["project"]["version"]
    images = {one["image"] for each in workloads(manifests).values() for one in containers(each)}
    assert all(re.fullmatch(rf"retail/[a-z]+:{re.escape(version)}", one) for one in images), images


def test_every_pod_keeps_to_the_restricted_standard(manifests: Sequence[Resource]) -> None:
    """As the namespace enforces it, and a read-only root beside."""
    [namespace] = of_kind(manifests, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for name, workload in workloads(manifests).items():
        of_pod = pod(workload)["securityContext"]
        assert of_pod["runAsNonRoot"] is True, name
        assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod(workload)["automountServiceAccountToken"] is False, name
        assert pod(workload)["enableServiceLinks"] is False, name
        for container in containers(workload):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name


def test_nobody_runs_without_a_request_and_a_limit_of_memory(
    manifests: Sequence[Resource],
) -> None:
    for name, workload in workloads(manifests).items():
        for container in containers(workload):
            asked = container["resources"]
            assert mebibytes(asked["requests"]["memory"]) <= mebibytes(asked["limits"]["memory"])
            assert "cpu" in asked["requests"], name


def test_what_is_named_is_there(manifests: Sequence[Resource]) -> None:
    """Settings, volumes, ports of services, and whom a budget or an autoscaler is for."""
    configured = config(manifests, "settings")
    claims = {one["metadata"]["name"] for one in of_kind(manifests, "PersistentVolumeClaim")}
    found = workloads(manifests)
    for name, workload in found.items():
        volumes = {one["name"]: one for one in pod(workload)["volumes"]}
        made = [one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", ())]
        for volume in volumes.values():
            claim = volume.get("persistentVolumeClaim")
            assert claim is None or claim["claimName"] in claims, name
        for container in containers(workload):
            assert {one["name"] for one in container["volumeMounts"]} <= {*volumes, *made}, name
            for source in container.get("envFrom", ()):
                named = source.get("configMapRef", {"name": configured["metadata"]["name"]})
                assert named["name"] == configured["metadata"]["name"], name
    for service in of_kind(manifests, "Service"):
        named_ports = {
            port["name"]: port["containerPort"]
            for one in select(found, service["spec"]["selector"])
            for port in program(one)["ports"]
        }
        for port in service["spec"]["ports"]:
            assert named_ports[port["targetPort"]] == port["port"], service["metadata"]["name"]
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        assert select(found, budget["spec"]["selector"]["matchLabels"])
    for scaler in of_kind(manifests, "HorizontalPodAutoscaler"):
        assert scaler["spec"]["scaleTargetRef"]["name"] in found


def select(found: dict[str, Resource], wanted: dict[str, str]) -> list[Resource]:
    """The workloads whose pods have these labels."""
    return [one for one in found.values() if wanted.items() <= labels(one).items()]


@pytest.mark.parametrize(("overlay", "cluster"), [("single", False), ("cluster", True)])
def test_nobody_reaches_more_than_the_compose_file_tells_it_of(overlay: str, cluster: bool) -> None:
    """Who may talk to whom: where one pod is let out and the other one lets it in."""
    resources, services = render(overlay), compose(cluster)
    found = workloads(resources)
    of_spark = {name for name, one in found.items() if labels(one).get("spark") == "member"}
    assert len(of_spark) == (6 if cluster else 0)
    told = {
        (main_name(one), main_name(other))
        for one, service in services.items()
        for other in services
        if re.search(rf"\b{other}:\d", f"{service['environment']} {service.get('command')}")
    }
    # Every program is told where Spark's master is; only those with Spark have any use for it.
    wanted = {(one, other) for one, other in told if other not in of_spark}
    among = {(one, other) for one in of_spark for other in of_spark}
    reached = {
        (one, other)
        for one in found
        for other in found
        if may_reach(resources, found[one], found[other])
    }
    assert apart(reached) == apart(wanted | among)


def apart(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(one, other) for one, other in pairs if one != other}


def may_reach(resources: Sequence[Resource], one: Resource, other: Resource) -> bool:
    """On the first port that the other listens on; any, where it is to listen on none."""
    [first, *_] = program(other).get("ports", [{"containerPort": 1}])
    port = first["containerPort"]
    return lets(resources, one, other, port, "egress") and lets(
        resources, other, one, port, "ingress"
    )


def lets(
    resources: Sequence[Resource], one: Resource, other: Resource, port: int, way: str
) -> bool:
    """Whether some policy of the one's lets it talk to the other this way, on that port."""
    rules = [
        rule
        for policy in of_kind(resources, "NetworkPolicy")
        if is_selected(policy["spec"]["podSelector"], one)
        for rule in policy["spec"].get(way, ())
    ]
    return any(
        port in [each["port"] for each in rule.get("ports", [{"port": port}])]
        and any(
            "namespaceSelector" not in peer and is_selected(peer["podSelector"], other)
            for peer in rule["to" if way == "egress" else "from"]
        )
        for rule in rules
    )


def is_selected(selector: Resource, workload: Resource) -> bool:
    return bool(selector.get("matchLabels", {}).items() <= labels(workload).items())


def test_nobody_is_reached_where_no_policy_says_so(manifests: Sequence[Resource]) -> None:
    [nobody] = [
        one
        for one in of_kind(manifests, "NetworkPolicy")
        if one["spec"]["podSelector"] == {} and "Ingress" in one["spec"]["policyTypes"]
    ]
    assert nobody["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_as_many_apis_and_suppliers_run_as_in_the_compose_files_cluster(
    own: Sequence[Resource],
) -> None:
    composed = compose(cluster=True, **ORDERS)
    [scaler] = of_kind(own, "HorizontalPodAutoscaler")
    found = workloads(own)
    apis = [name for name in composed if main_name(name) == "api"]
    assert scaler["spec"]["minReplicas"] == len(apis) < scaler["spec"]["maxReplicas"]
    assert "replicas" not in found["api"]["spec"]
    for name in ("supplier", "spark-worker"):
        assert found[name]["spec"]["replicas"] == int(composed[name]["deploy"]["replicas"])
