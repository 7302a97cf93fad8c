"""retail up: starts everything, in order, and returns when stock can be read."""

import os
from typing import Annotated

import typer

from infra import kafka
from infra.broker.storage import refuse_other_profile
from infra.doctor import Finding, run_checks
from infra.errors import UserError
from infra.jars.fetch import fetch
from infra.jars.sets import get_jar_set
from infra.settings import Settings, load_remembered, read_settings, remember, select_memorable
from infra.supervisor import daemon, orphans
from infra.supervisor.manager import Manager
from ops.cli import fleet, screen, topics
from ops.cli.fleet import await_all
from ops.cli.options import lock_home
from ops.cli.screen import say_if_interrupted
from ops.cli.status import show
from ops.cli.welcome import welcome
from ops.control.reading import PIPELINES

MIB = 1024**2
REMOTE_SECONDS_MAX = 10.0
READABLE = ("simulator", "clock", "pipelines", "api")
"""What is started first: the API is ready once it serves a view. Others would take its cores."""


def up(
    only_check: Annotated[
        bool, typer.Option("--check", help="Only check the requirements of a start.")
    ] = False,
    only: Annotated[
        str, typer.Option(help="Only these pipelines, as inventory,fraud; no lake but by LAKE=on.")
    ] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until each part is ready.")] = False,
) -> None:
    """Start everything that does not run. It returns when the first view can be read; what still
    starts joins by itself.
    """
    if only:
        os.environ["PIPELINES"] = only
        os.environ.setdefault("LAKE", "off")
    current = read_settings()
    if only_check:
        show_findings(examine(current))
        return
    refuse_unknown_pipelines(current)
    with lock_home(current.data_dir):
        check(current)
        refuse_other_profile(current.broker_dir, current.secure)
        fetch_jars(current)
        manager = ensure_manager(current)
        start_broker(current, manager)
        # The rest in parallel, as Spark takes longest.
        first, others = split_names(current)
        for name in first:
            manager.start(name)
    # From here on another command may interfere: `down` needs not wait for Spark.
    with say_if_interrupted("What was started goes on in the background: make status · make down"):
        await_all(current, manager, tuple(name for name in first if name != "pipelines"))
        for name in others:
            manager.start(name)
        if wait:
            await_all(current, manager, ("pipelines", *others))
    components = fleet.list_components(current)
    starting = [part.detail or part.name for part in components if part.state == "starting"]
    if starting:
        screen.step("starting", f"{' · '.join(starting)}")
        screen.step("", "they join by themselves: make status")
    screen.say("")
    show(components)
    welcome(current)


def split_names(current: Settings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The components by which the first view can be read, and the others, but for the broker."""
    names = [name for name in fleet.list_names(current) if name != "broker"]
    first = tuple(name for name in names if name in READABLE)
    return first, tuple(name for name in names if name not in READABLE)


def refuse_unknown_pipelines(current: Settings) -> None:
    """Raise UserError if there is no pipeline of a name."""
    if unknown := [name for name in current.pipeline_names if name not in PIPELINES]:
        raise UserError(
            f"PIPELINES: expected some of {', '.join(sorted(PIPELINES))}, "
            f"found {', '.join(unknown)}. Name them as in: make up ONLY=inventory,fraud"
        )


def show_findings(findings: list[Finding]) -> None:
    for finding in findings:
        screen.step(finding.check, f"{'✓' if finding.good else '✗'} {finding}")
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


def examine(current: Settings) -> list[Finding]:
    return list(run_checks(current))


def check(current: Settings) -> None:
    """Check the requirements of a start; raises UserError with every remedy."""
    found = examine(current)
    wrong = [str(finding) for finding in found if not finding.good]
    if wrong:
        raise UserError("\n".join(wrong))
    about = {finding.check: finding.found for finding in found}
    screen.say("  " + " · ".join(about[name] for name in ("java", "memory", "disk")))


def fetch_jars(current: Settings) -> None:
    sets = [get_jar_set("broker"), get_jar_set("spark")]
    if current.lake:
        sets.append(get_jar_set("delta"))
    with screen.show_waiting("jars", "verifying") as wait:

        def report(done: int, total: int) -> None:
            wait.show("jars", f"{screen.render_bar(done, total)} downloading")

        for wanted in sets:
            fetch(wanted, current.jars_dir, report)
    files = [file for wanted in sets for file in (current.jars_dir / wanted.name).iterdir()]
    size = sum(file.stat().st_size for file in files) / MIB
    screen.step("jars", f"{len(files)} files, {size:.0f} MB, verified", wait.seconds)


def ensure_manager(current: Settings) -> Manager:
    """The process manager: the running one, or a new one after leftover processes are stopped."""
    manager = daemon.find_running(current.data_dir)
    if manager is not None:
        before, after = load_remembered(current.data_dir), select_memorable(current)
        changed = [name for name in before | after if before.get(name) != after.get(name)]
        if changed:
            names = ", ".join(name.upper() for name in changed)
            raise UserError(
                f"The shop runs already, with another {names}. Stop it first: make down"
            )
        return manager
    left = orphans.stop(current.data_dir)
    if left:
        screen.step("cleanup", f"{left} processes left over from before, stopped")
    remember(current)
    return daemon.start(current.data_dir)


def start_broker(current: Settings, manager: Manager) -> None:
    """Start a broker and wait until it answers and has every topic, and knows who may use it."""
    if current.secure:
        # Imported here: other starts need no certificates.
        from infra.security.certificates import ensure_keys

        ensure_keys(current)
    if current.broker_embedded:
        manager.start("broker")
        await_all(current, manager, ("broker",))
    elif not kafka.is_answering(current, seconds_max=REMOTE_SECONDS_MAX):
        raise kafka.KafkaDown(current.bootstrap_servers)
    else:
        screen.step("broker", f"remote, answers on {current.bootstrap_servers}")
    with screen.show_waiting("topics", "") as wait:
        standing = topics.list_standing()
        made = len(kafka.apply_topics(current, standing))
    text = f"{made} made from contracts, {len(standing) - made} there already"
    screen.step("topics", text, wait.seconds)
    if current.secure:
        with screen.show_waiting("access", "") as wait:
            granted = topics.grant(current)
        screen.step("access", granted, wait.seconds)
