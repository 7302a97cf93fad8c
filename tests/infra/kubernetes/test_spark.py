"""Spark's own master for Kubernetes: what its drivers are told of the pods that they make."""

from collections.abc import Sequence

import kubernetes_validate
import pytest
import yaml

from infra.settings import locate_root
from tests.infra.kubernetes.rendered import (
    Resource,
    config,
    labels,
    of_kind,
    pod,
    program,
    render,
    workloads,
)
from tests.infra.kubernetes.test_manifests import KUBERNETES

DRIVERS = ("inventory", "fraud", "analytics", "visits")
VOLUME = "spark.kubernetes.executor.volumes.persistentVolumeClaim.data"


@pytest.fixture(scope="module")
def resources() -> Sequence[Resource]:
    return render("spark-on-kubernetes")


@pytest.fixture(scope="module")
def options(resources: Sequence[Resource]) -> dict[str, str]:
    """What spark-defaults.conf says."""
    lines = config(resources, "spark")["data"]["spark-defaults.conf"].splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


@pytest.fixture(scope="module")
def executor(resources: Sequence[Resource]) -> Resource:
    """The template of an executor's pod."""
    found: Resource = yaml.safe_load(config(resources, "spark")["data"]["executor.yaml"])
    return found


def test_only_drivers_have_a_token_and_it_is_for_pods_of_the_namespace(
    resources: Sequence[Resource],
) -> None:
    found = workloads(resources)
    assert {name for name, one in found.items() if "serviceAccountName" in pod(one)} == {*DRIVERS}
    [role] = of_kind(resources, "Role")
    [binding] = of_kind(resources, "RoleBinding")
    assert [rule["apiGroups"] for rule in role["rules"]] == [[""]]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"][0]["name"] == pod(found["inventory"])["serviceAccountName"]
    assert not of_kind(resources, "ClusterRole", "ClusterRoleBinding")


def test_a_driver_finds_its_files_where_spark_looks_for_them(
    resources: Sequence[Resource], options: dict[str, str]
) -> None:
    for name in DRIVERS:
        driver = workloads(resources)[name]
        [folder] = [
            one["value"] for one in program(driver)["env"] if one["name"] == "SPARK_CONF_DIR"
        ]
        [mount] = [one for one in program(driver)["volumeMounts"] if one["mountPath"] == folder]
        [volume] = [one for one in pod(driver)["volumes"] if one["name"] == mount["name"]]
        assert volume["configMap"]["name"] == config(resources, "spark")["metadata"]["name"]
        template = options["spark.kubernetes.executor.podTemplateFile"]
        assert template == f"{folder}/executor.yaml"


def test_an_executor_is_like_the_pods_of_drivers(
    resources: Sequence[Resource], options: dict[str, str], executor: Resource
) -> None:
    driver = workloads(resources)["inventory"]
    [container] = executor["spec"]["containers"]
    assert container["name"] == options["spark.kubernetes.executor.podTemplateContainerName"]
    assert container["securityContext"] == program(driver)["securityContext"]
    assert executor["spec"]["securityContext"] == pod(driver)["securityContext"]
    assert executor["spec"]["automountServiceAccountToken"] is False
    for name in ("role", "spark"):  # by which it may read the log, and reach its driver
        assert executor["metadata"]["labels"][name] == labels(driver)[name]
    assert options["spark.kubernetes.container.image"] == program(driver)["image"]
    [namespace] = of_kind(resources, "Namespace")
    assert options["spark.kubernetes.namespace"] == namespace["metadata"]["name"]


def test_an_executor_has_the_volume_of_its_driver_at_the_same_place(
    resources: Sequence[Resource], options: dict[str, str]
) -> None:
    driver = workloads(resources)["inventory"]
    [claim] = [
        one["persistentVolumeClaim"]["claimName"]
        for one in pod(driver)["volumes"]
        if "persistentVolumeClaim" in one
    ]
    [path] = [one["mountPath"] for one in program(driver)["volumeMounts"] if one["name"] == "data"]
    assert options[f"{VOLUME}.options.claimName"] == claim
    assert options[f"{VOLUME}.mount.path"] == path


def test_an_executors_template_is_a_pod_that_starts_a_module_there_is(
    options: dict[str, str], executor: Resource
) -> None:
    [container] = executor["spec"]["containers"]
    whole = {**container, "image": options["spark.kubernetes.container.image"]}
    filled = {**executor, "spec": {**executor["spec"], "containers": [whole]}}
    kubernetes_validate.validate(filled, KUBERNETES, strict=True)
    module = container["command"][-1]
    assert (locate_root() / f"{module.replace('.', '/')}.py").exists()
    assert 'ENTRYPOINT ["tini", "--"]' in (locate_root() / "infra/images/Dockerfile").read_text()
    assert container["command"][:2] == ["tini", "--"]
