"""The bill of materials holds everything that is locked or shipped, and is CycloneDX."""

import hashlib
import json
import tomllib
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from infra.sbom import render
from infra.settings import locate_root

Components = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(json.loads(render()))


@pytest.fixture(scope="module")
def components(document: dict[str, Any]) -> Components:
    return {each["bom-ref"]: each for each in document["components"]}


def list_sha256(component: dict[str, Any]) -> list[str]:
    return [each["content"] for each in component["hashes"] if each["alg"] == "SHA-256"]


def test_every_locked_package_is_in_it(components: Components) -> None:
    locks = sorted(locate_root().glob("infra/requirements/*.lock"))
    assert len(locks) >= 3
    for lock in locks:
        words = [line.split()[0] for line in lock.read_text().splitlines() if "==" in line]
        pinned = [word.split(";")[0] for word in words if word[0].isalnum()]
        assert pinned, lock
        for pin in pinned:
            name, version = pin.split("==")
            component = components[f"pkg:pypi/{name}@{version}"]
            assert {
                "name": "retail:locked-in",
                "value": str(lock.relative_to(locate_root())),
            } in component["properties"]


def test_every_pinned_jar_is_in_it_with_its_checksum(components: Components) -> None:
    locks = sorted((locate_root() / "infra" / "jars").glob("*/jgo.lock.toml"))
    assert len(locks) >= 4
    for lock in locks:
        for jar in tomllib.loads(lock.read_text())["dependencies"]:
            place = f"pkg:maven/{jar['groupId']}/{jar['artifactId']}@{jar['version']}"
            assert list_sha256(components[place]) == [jar["sha256"]]
            assert {"name": "retail:jars", "value": lock.parent.name} in components[place][
                "properties"
            ]


def test_every_script_that_a_page_loads_is_in_it(components: Components) -> None:
    scripts = sorted(path for path in (locate_root() / "services").rglob("*.js"))
    assert scripts
    for script in scripts:
        component = components[script.relative_to(locate_root()).as_posix()]
        assert list_sha256(component) == [hashlib.sha256(script.read_bytes()).hexdigest()]


def test_the_project_depends_on_everything_in_it(
    document: dict[str, Any], components: Components
) -> None:
    assert document["metadata"]["component"]["name"] == "retail"
    [of_project] = [each for each in document["dependencies"] if each["ref"] == "retail"]
    assert set(of_project["dependsOn"]) == components.keys()


def test_it_is_valid_cyclonedx_and_a_wrong_one_is_not(document: dict[str, Any]) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(json.dumps(document)) is None
    assert validator.validate_str(json.dumps(document | {"components": [{"name": 7}]})) is not None
