"""The manifests as `kubectl kustomize` renders them; it asks no cluster."""

import os
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from infra.settings import locate_root

MANIFESTS = locate_root() / "infra" / "kubernetes"
OVERLAYS = ("single", "cluster", "outside-kafka")
KUBECTL = Path(sysconfig.get_path("scripts"), "kubectl")
"""The one that infra/requirements/retail.lock pins."""
SECONDS_MAX = 60

Resource = dict[str, Any]


@cache
def render(overlay: str) -> tuple[Resource, ...]:
    return render_folder(MANIFESTS / "overlays" / overlay)


def render_folder(folder: Path) -> tuple[Resource, ...]:
    done = subprocess.run(
        [KUBECTL, "kustomize", folder],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def render_own(folder: Path, kustomization: str) -> tuple[Resource, ...]:
    """An overlay of somebody's own, written as if it lay beside ours."""
    beside = os.path.relpath(MANIFESTS, folder)
    (folder / "kustomization.yaml").write_text(kustomization.replace("../..", beside))
    return render_folder(folder)


def of_kind(resources: Sequence[Resource], *kinds: str) -> list[Resource]:
    return [one for one in resources if one["kind"] in kinds]


def workloads(resources: Sequence[Resource]) -> dict[str, Resource]:
    """Whatever makes pods, by name."""
    found = of_kind(resources, "Deployment", "StatefulSet", "Job")
    return {one["metadata"]["name"]: one for one in found}


def pod(workload: Resource) -> Resource:
    """What its pods are."""
    found: Resource = workload["spec"]["template"]["spec"]
    return found


def labels(workload: Resource) -> Mapping[str, str]:
    """Of its pods."""
    found: Mapping[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return found


def program(workload: Resource) -> Resource:
    [container] = pod(workload)["containers"]
    return dict(container)


def containers(workload: Resource) -> Iterator[Resource]:
    yield from pod(workload).get("initContainers", ())
    yield program(workload)


def config(resources: Sequence[Resource], name: str) -> Resource:
    """The ConfigMap, whose name ends in a digest of its content."""
    [found] = [
        one
        for one in of_kind(resources, "ConfigMap")
        if one["metadata"]["name"].rpartition("-")[0] == name
    ]
    return found


def settings(resources: Sequence[Resource]) -> dict[str, str]:
    return dict(config(resources, "settings")["data"])


def environment(workload: Resource, resources: Sequence[Resource]) -> dict[str, str]:
    """The variables of its program whose values are known before there is a pod."""
    container = program(workload)
    shared = settings(resources) if "envFrom" in container else {}
    own = {one["name"]: one["value"] for one in container.get("env", ()) if "value" in one}
    return {**shared, **own}
