"""retail load: publish the events of a file."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from contracts import Contract
from contracts.faults import Fault
from contracts.validation import OPEN
from generators.load import EARLY, OLD, Loaded, Rejected, Row, Validator, Watch, load, sort_rows
from infra import identities, kafka
from infra.errors import UserError
from infra.scratch import lock_publishing
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.refusals import report_refusals, write_refusal
from ops.cli.topics import require_broker

REJECTED_SHOWN_MAX = 5
FAULTS_SHOWN_MAX = 3
HIDDEN = "what is not shown"

ADVICE = """
    Ahead of the world: the event would be counted before it happens. Wait until the world is
    there, or load the file into a data folder of its own.
    Older than what readers remember: a copy of the event could count twice.
"""


def hide(fault: Fault) -> Fault:
    """The fault, without what could name a person."""
    return replace(fault, found=HIDDEN) if fault.place in identities.FIELDS else fault


def load_command(
    file: Annotated[Path, typer.Argument(help="One event per line (.jsonl).")],
    topic: Annotated[str, typer.Option(help="The events' contract.")],
) -> None:
    """Publish the events of a file, sorted by the time they happened."""
    if topic not in OPEN:
        raise UserError(
            f"--topic should be one of {', '.join(OPEN)}, but is {topic}. "
            "The contracts: contracts/topics"
        )
    current, contract = require_broker(read_settings()), OPEN[topic]
    validator = Validator(contract, Watch(current).look, identities.open_edge(current))
    with (
        lock_publishing(current.data_dir),
        report_refusals(current, f"load-{file.stem}") as report,
    ):
        first: list[Rejected] = []

        def reject(rejected: Rejected) -> None:
            if current.pseudonyms:  # nobody is named in the report
                rejected = replace(rejected, faults=tuple(map(hide, rejected.faults)))
            faults = [asdict(fault) for fault in rejected.faults]
            write_refusal(report, {"row": rejected.row, "faults": faults})
            if len(first) < REJECTED_SHOWN_MAX:
                first.append(rejected)

        rows = sort_rows(file, str(contract.event_time))
        found = publish(current, rows, validator, reject)
    show(found, contract)
    if found.rejected:
        show_rejected(found, first, Path(report.name))
        raise typer.Exit(1)


def publish(
    current: Settings,
    rows: Iterable[Row],
    validator: Validator,
    reject: Callable[[Rejected], None],
) -> Loaded:
    client = kafka.create_producer(current)
    found = Loaded()
    with screen.show_waiting("load", "sorting") as wait:
        try:
            for found in load(rows, validator, client, reject):
                rate = found.rows / max(wait.seconds, 0.001)
                text = f"{found.rows:,} rows, {rate:,.0f}/s, {found.rejected:,} rejected"
                wait.show("load", text)
        except kafka.NotDelivered as error:
            raise UserError(
                f"{error}. {found.published:,} rows had been acknowledged. Load the file again: "
                "an event that is in the log already is applied once."
            ) from error
    return found


def show(found: Loaded, contract: Contract) -> None:
    screen.say(f"  {found.rows:,} rows · {found.published:,} published to {contract.name}")
    if found.reached:
        records = (
            f"min_offset={contract.name}/{at}/{offset}" for at, offset in found.reached.items()
        )
        screen.say(f"  an answer holds all of them with ?{'&'.join(records)}")


def show_rejected(found: Loaded, first: list[Rejected], report: Path) -> None:
    screen.say(f"  {found.rejected:,} rejected, all in {screen.shorten(report)}")
    for one in first:
        told = "; ".join(str(fault) for fault in one.faults[:FAULTS_SHOWN_MAX])
        more = len(one.faults) - FAULTS_SHOWN_MAX
        screen.say(f"    row {one.row}: {told}{f'; and {more} more' if more > 0 else ''}")
    problems = [fault.problem for one in first for fault in one.faults]
    if any(problem.startswith((EARLY, OLD)) for problem in problems):
        screen.say(ADVICE.rstrip())
