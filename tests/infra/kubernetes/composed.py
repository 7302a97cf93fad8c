"""docker-compose.yml as docker compose reads it, on one machine or as a cluster."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from infra.settings import locate_root

NAMED = re.compile(r"\$\{(\w+)(?::([-+])([^}]*))?\}")


@cache
def compose(cluster: bool = False, **chosen: str) -> Mapping[str, dict[str, Any]]:
    """The services that run, by name, with these variables; only those with images of ours."""
    known = dict(chosen)
    for file in (".env", *(["infra/cluster.env"] if cluster else [])):
        for name, value in re.findall(
            r"^(\w+)=(.*)$", (locate_root() / file).read_text(), re.MULTILINE
        ):
            known[name] = chosen.get(name, interpolate(value, known))
    services = yaml.safe_load(
        interpolate((locate_root() / "docker-compose.yml").read_text(), known)
    )
    profiles = set(known["COMPOSE_PROFILES"].split(","))
    running = {
        name: one
        for name, one in services["services"].items()
        if "build" in one and profiles & set(one.get("profiles", profiles))
    }
    for one in running.values():
        one["environment"] = {
            name: known.get(name, "") if value is None else str(value)
            for name, value in one["environment"].items()
        }
    return running


def interpolate(text: str, known: Mapping[str, str]) -> str:
    def find(found: re.Match[str]) -> str:
        value, sign, word = known.get(found[1], ""), found[2], found[3] or ""
        if sign == "+":
            return word if value else ""
        return value or word

    return NAMED.sub(find, text)


def main_name(service: str) -> str:
    """The name without a number: three brokers are one workload."""
    return re.sub(r"-\d$", "", service)
