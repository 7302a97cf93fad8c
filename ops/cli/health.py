"""Readiness of the components that answer requests: a broker, an API, Spark's own processes.

`python -m ops.cli.health COMPONENT` asks the one that runs in this container. Many containers are
asked at once while they start, so this module imports little.
"""

import sys
from collections.abc import Callable, Mapping
from socket import gethostbyname, gethostname
from typing import Any
from urllib.parse import urlsplit

import psutil

from infra.http import NO_ANSWER, fetch_json, open_answer
from infra.kafka import is_answering
from infra.settings import OPERATOR, Settings, read_settings

PROBE_SECONDS_MAX = 2.0
MASTER_PORT = 8080
"""Where Spark's master reports its state."""
PAUSED = "paused: "

Probe = Callable[[Settings, int], str | None]
"""The readiness report of a component that started at this second since 1970; None: not yet."""


def check_broker(settings: Settings, started_at: int) -> str | None:
    if is_answering(settings, PROBE_SECONDS_MAX):
        return f"ready on {settings.bootstrap_servers}"
    return None


def check_api(settings: Settings, started_at: int) -> str | None:
    try:
        with open_answer(f"{settings.api_url}/readyz", PROBE_SECONDS_MAX, settings) as answer:
            return f"ready on {settings.api_url}" if answer.status == 200 else None
    except NO_ANSWER:
        return None


def check_spark_master(settings: Settings, started_at: int) -> str | None:
    cluster = read_cluster(settings)
    return f"{len(cluster['workers'])} workers" if cluster.get("status") == "ALIVE" else None


def check_spark_worker(settings: Settings, started_at: int) -> str | None:
    """Ready while the master lists it as alive."""
    here = gethostbyname(gethostname())
    for worker in read_cluster(settings).get("workers", ()):
        if worker["host"] == here and worker["state"] == "ALIVE":
            return f"{worker['coresused']} of {worker['cores']} task slots taken"
    return None


def read_cluster(settings: Settings) -> dict[str, Any]:
    """The state of Spark's master and its workers; empty when it does not answer."""
    host = urlsplit(settings.spark_master).hostname
    try:
        return dict(fetch_json(f"http://{host}:{MASTER_PORT}/json/", PROBE_SECONDS_MAX))
    except NO_ANSWER:
        return {}


PROBES: Mapping[str, Probe] = {
    "broker": check_broker,
    "api": check_api,
    "spark-master": check_spark_master,
    "spark-worker": check_spark_worker,
}


def tell(readiness: Callable[[Settings, str, int], str | None]) -> None:
    """Exit with 0 and the component's report of readiness, otherwise with 1."""
    component = sys.argv[1]
    # It looks at what the component has written, which the component itself need not read.
    settings = read_settings().as_service(OPERATOR)
    ready = readiness(settings, component, int(psutil.Process(1).create_time()))
    if ready is None or ready.startswith(PAUSED):
        sys.exit(f"{component} is not ready: {ready or 'it starts'}")
    print(ready)


if __name__ == "__main__":
    tell(lambda settings, component, started_at: PROBES[component](settings, started_at))
