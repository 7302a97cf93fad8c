"""retail contracts: the consumers that a change breaks, before its release; a cluster's topics.

What loads the contracts is imported within functions: `check` runs while one is bad.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from contracts import loader
from contracts.errors import BadContract
from contracts.evolution.check import Report, check
from contracts.evolution.new import create_contract
from contracts.evolution.release import release
from contracts.evolution.verdict import Finding
from contracts.shape import Contract
from infra import kafka
from infra.clock import get_today
from infra.errors import UserError
from infra.kafka.drift import Cluster, Drift, find_drifts, find_refusals, inspect, mend
from infra.settings import Settings, read_settings
from ops.cli import screen

app = typer.Typer(no_args_is_help=True)

Folder = Annotated[Path, typer.Option(help="The folder of contracts.")]
HERE = Path(loader.__file__).parent
WIDTH, INDENT, LABEL = 80, 4, 26
GENERATION = re.compile(r"(.+)\.g[1-9][0-9]*")


@app.command("check")
def check_command(folder: Folder = HERE) -> None:
    """Check every contract against its released versions and its consumers; needs no broker."""
    checked = check(folder.resolve(), get_today())
    show(checked)
    if not checked.good:
        raise typer.Exit(1)


@app.command("release")
def release_command(folder: Folder = HERE) -> None:
    """Release the contracts as they are, as versions that stay for ever; refused while anything
    breaks.
    """
    checked, done = release(folder.resolve(), get_today())
    if not checked.good:
        show(checked)
        screen.say("  Nothing is released until all of that is fixed.")
        raise typer.Exit(1)
    for pending in done:
        after = f", after {pending.released}" if pending.released else ""
        screen.step(pending.version, f"{pending.contract}{after}")
    screen.say(f"  {len(done)} released. Commit contracts/released and the schema lock with them.")


@app.command("new")
def new_command(
    name: Annotated[str, typer.Argument(help="As public.sales.exchange.v1.")],
    kind: Annotated[
        Literal["topic", "view", "window"],
        typer.Option(help="Events, a table, or a table of windows."),
    ] = "topic",
    sunset: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Of a v2: until when v1 is kept up."),
    ] = None,
    folder: Folder = HERE,
) -> None:
    """Write a contract that loads: a first version, or the next major one beside the last."""
    ends = sunset.date() if sunset else None
    try:
        files = create_contract(folder.resolve(), name, kind, ends)
    except BadContract as bad:
        raise UserError(str(bad)) from bad
    for file in files:
        screen.step("written", screen.shorten(file))
    screen.say(
        "  Next: say in it what a record means; name it in contracts/consumers where it is\n"
        "  written and read; then retail contracts check · retail contracts release"
    )


@app.command("plan")
def plan_command() -> None:
    """Show where the cluster differs from the contracts; changes nothing."""
    settings = read_settings()
    cluster, drifted = _look(settings)
    why = list(find_refusals(cluster, settings.kafka_replication_factor))
    _show(cluster, drifted)
    for refusal in why:
        screen.say(f"  apply would be refused: {refusal}")
    if why or drifted:
        raise typer.Exit(1)


@app.command("apply")
def apply_command() -> None:
    """Make missing topics, fix settings and set who may do what, unless the cluster is unsafe."""
    from ops.cli.topics import grant, list_standing

    settings = read_settings()
    cluster, drifted = _look(settings)
    if why := list(find_refusals(cluster, settings.kafka_replication_factor)):
        raise UserError("\n".join(f"Refused: {refusal}." for refusal in why))
    made = kafka.apply_topics(settings, list_standing())
    mend(kafka.create_admin(settings), drifted)
    left = [drift for drift in drifted if not drift.mendable]
    if settings.secure:
        screen.step("access", grant(settings))
    screen.step("topics", f"{len(made)} made, {len(drifted) - len(made) - len(left)} settings set")
    if left:
        _show(cluster, left)
        screen.say("  That would move records: make a new major version instead, and move to it.")
        raise typer.Exit(1)


def find_contracts(names: Sequence[str]) -> Mapping[str, Contract]:
    """The contract of every topic that has one: a generation's changelog has its view's."""
    from contracts import CONTRACTS
    from ops.cli.topics import list_standing

    of_generations = {
        name: CONTRACTS[match[1]]
        for name in names
        if (match := GENERATION.fullmatch(name)) and match[1] in CONTRACTS
    }
    return {**list_standing(), **of_generations}


def _look(settings: Settings) -> tuple[Cluster, list[Drift]]:
    from ops.cli.topics import ANSWER_SECONDS_MAX, list_standing, require_broker

    client = kafka.create_admin(require_broker(settings))
    wanted = find_contracts(list(client.list_topics(timeout=ANSWER_SECONDS_MAX).topics))
    cluster = inspect(client, list(wanted))
    return cluster, list(find_drifts(cluster, wanted, frozenset(list_standing())))


def _show(cluster: Cluster, drifted: Sequence[Drift]) -> None:
    if not drifted:
        screen.say(f"  {len(cluster.topics)} topics, all as their contracts say")
        return
    rows = []
    for drift in drifted:
        done = "makes it" if drift.what == "topic" else "sets it" if drift.mendable else "leaves it"
        rows.append((drift.topic, drift.what, drift.expected, drift.found, done))
    screen.print_table(("topic", "what", "contract", "cluster", "apply"), rows)


def show(report: Report) -> None:
    """Print each break, its readers, and what to do; it stands last, where a person looks first."""
    for finding in report.harmless:
        screen.say(f"  {render_finding(finding)}, which harms nobody")
    if report.drafts:
        _print_wrapped("  ", f"drafts, which nobody writes yet: {', '.join(report.drafts)}")
    if report.pending and report.good:
        names = ", ".join(f"{pending.contract} {pending.version}" for pending in report.pending)
        advice = "Release them: retail contracts release"
        _print_wrapped("  ", f"not released as they stand: {names}. {advice}")
    for fault in report.faults:
        _print_wrapped("  ", f"fault: {fault}")
    for finding in report.breaks:
        _show_break(finding)
    screen.say(f"  {conclude(report)}")


def conclude(report: Report) -> str:
    contracts = screen.count(report.contracts, "contract")
    of = f"{contracts}, {screen.count(report.consumers, 'consumer')}"
    if report.good:
        return f"{of}: nobody breaks"
    found = (len(report.breaks), "break"), (len(report.faults), "fault")
    return f"{' and '.join(screen.count(*each) for each in found if each[0])} in {of}"


def render_finding(finding: Finding) -> str:
    return f"{finding.contract}   {finding.change.place}: {finding.change.text}"


def _show_break(finding: Finding) -> None:
    screen.say(f"  {render_finding(finding)}")
    nobody, since = "nobody who is known", ", ".join(finding.since)
    for label, text in (
        ("readers that break", ", ".join(finding.readers_broken) or nobody),
        ("readers that do not", ", ".join(finding.readers_going_on) or nobody),
        ("writers that break", ", ".join(finding.writers_broken)),
        ("why", f"{finding.change.why}; since {since}, {finding.promised} is promised"),
        ("way out", finding.way_out),
    ):
        if text:
            _print_wrapped(f"{' ' * INDENT}{label:<{LABEL - INDENT}}", text)


def _print_wrapped(head: str, text: str) -> None:
    screen.say(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
