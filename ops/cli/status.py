"""retail status and retail logs: the components, their addresses, and why one is not ready."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import Annotated

import typer
from confluent_kafka import KafkaException

from infra.checks import locate_quality, read_checked
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.kafka import KafkaDown, UnknownTopic, is_answering
from infra.logs import tail
from infra.reports import locate_reports
from infra.settings import Settings, locate_root, read_settings, select_memorable
from infra.supervisor import daemon, orphans
from ops.cli import fleet, screen
from ops.cli.fleet import Component
from ops.cli.health import PROBE_SECONDS_MAX
from ops.cli.options import AsJson
from ops.generations import snapshot
from ops.generations.record import read_promoted
from ops.replay.readers import READER
from services.times import render_instant

LINE_WIDTH = 160
WORLDS = ("simulator", "clock")
"""The components that announce the world's time and describe the world."""


def status(as_json: AsJson = False) -> None:
    settings = read_settings()
    components = fleet.list_components(settings)
    if as_json:
        documents = [asdict(component) for component in components]
        print(json.dumps({"components": documents, "settings": select_memorable(settings)}))
        return
    show(components)
    for component in components:
        if component.state in ("failed", "restarting"):
            explain(component, settings)
        elif component.state == "paused":
            screen.say(f"\n  {component.name} is {component.detail}")
    warn_of_ends(settings)
    warn_of_checks(settings)
    if reaches_kafka(components, settings):
        for drift in find_drifts(settings):
            screen.say(f"\n{indent(drift, '  ')}")
    elif any(component.state == "starting" for component in components):
        screen.say(f"\n  {KafkaDown(settings.bootstrap_servers)}")
        screen.say("  Components that report through Kafka count as starting until it does.")
    advise(components, settings)


def show(components: list[Component]) -> None:
    """Print the table, and the components that were restarted."""
    screen.print_table(
        ("component", "state", "for", "address", "log"),
        (
            (
                component.name,
                component.state,
                render_duration(component.up_seconds) if component.up_seconds else "",
                component.address,
                screen.shorten(Path(component.log)),
            )
            for component in components
        ),
    )
    for component in components:
        if component.name in WORLDS and component.state == "ready":
            screen.say(f"  world: {component.detail}")
        if component.state == "starting" and component.detail:
            screen.say(f"  {component.name} that still start: {component.detail}")
        if component.restarts:
            screen.say(
                f"  {component.name} was started again {component.restarts} × since `up`; "
                f"the last time it ended: {component.last_end}"
            )


def render_duration(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def explain(component: Component, settings: Settings) -> None:
    screen.say(f"\n  {component.name}: {component.detail} {component.last_end}".rstrip())
    for line in tail(settings.logs_dir / f"{component.name}.log").splitlines():
        screen.say(f"    {line[:LINE_WIDTH]}")


def warn_of_ends(settings: Settings) -> None:
    """Print the tokens and certificates of a secure shop that end soon or are over."""
    if not settings.secure:
        return
    from infra.security.certificates import list_ends  # here: others need no keys

    now_ms = get_wall_ms()
    for end in list_ends(settings):
        if end.is_near(now_ms):
            over = "is over since" if now_ms >= end.at_ms else "ends"
            moment = render_instant(end.at_ms)
            screen.say(f"\n  the {end.kind} {end.name} {over} {moment}. Renew it: {end.remedy}")


def warn_of_checks(settings: Settings) -> None:
    """Print what the newest checks of the lake found, if it is not as expected."""
    if not settings.lake:
        return
    checked = read_checked(locate_quality(locate_reports(settings)))
    troubles = [("the checks", checked.trouble)]
    troubles += [(table, result.trouble) for table, result in checked.tables.items()]
    for name, trouble in troubles:
        if trouble:
            screen.say(f"\n  {name} could not run: {trouble}"[:LINE_WIDTH])
    for table, result in checked.tables.items():
        for failure in result.failures:
            count = screen.count(failure.unexpected, "row")
            screen.say(f"\n  check of {table}: not so of {count}: {failure.expectation}")
    if any(result.failures for result in checked.tables.values()):
        screen.say(f"  The rows: {settings.api_url}/pipelines#checks")


def reaches_kafka(components: list[Component], settings: Settings) -> bool:
    """Whether something runs, and Kafka answers it."""
    if settings.broker_embedded:
        return any((part.name, part.state) == ("broker", "ready") for part in components)
    runs = any(component.state in ("starting", "paused", "ready") for component in components)
    return runs and is_answering(settings, PROBE_SECONDS_MAX)


def find_drifts(settings: Settings) -> list[str]:
    """The pipelines that run other code than what is on disk; empty where Kafka does not answer."""
    try:
        promoted = read_promoted(settings, READER)
    except (KafkaException, UnknownTopic, TimeoutError):
        return []
    drifts = (snapshot.describe_drift(locate_root(), generation) for generation in promoted)
    return [drift for drift in drifts if drift]


def advise(components: list[Component], settings: Settings) -> None:
    """The next useful step."""
    states = {component.state for component in components}
    if states == {"stopped"}:
        left = [] if daemon.find_running(settings.data_dir) else orphans.find(settings.data_dir)
        if left:
            screen.say(f"\n  {len(left)} processes run without a manager. make up cleans up.")
        else:
            screen.say("\n  Nothing runs. Start it: make up")
    elif states != {"ready"}:
        screen.say("\n  All of a log: make logs COMPONENT=… · start what is missing: make up")


def logs(
    component: Annotated[str, typer.Argument(help="One component. Default: all.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the logs.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="From the end.")] = 20,
) -> None:
    settings = read_settings()
    names = fleet.list_names(settings)
    if component and component not in names:
        raise UserError(f"There is no component {component}. There are: {', '.join(names)}")
    wanted = (component,) if component else names
    files = [str(file) for name in wanted if (file := settings.logs_dir / f"{name}.log").exists()]
    if not files:
        raise UserError("There are no logs yet. Start the components with: make up")
    # -F goes on with the new file when the old one has reached its size limit.
    os.execvp("tail", ["tail", "-n", str(lines), *(["-F"] if follow else []), "--", *files])
