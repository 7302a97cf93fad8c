"""retail load: publish the events of a file."""

from collections.abc import Iterable
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
from ops.cli.refusals import Refusals, report_refusals

REJECTED_SHOWN_MAX = 5
FAULTS_SHOWN_MAX = 3
HIDDEN = "what is not shown"

ADVICE = """
    Ahead of the world: the event would be counted before it happens. Wait until the world is
    there, or load the file into a data folder of its own.
    Older than what readers remember: a copy of the event could count twice.
"""


class UnknownTopic(UserError):
    """A topic that is not open to publishers."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"--topic should be one of {', '.join(OPEN)}, but is {name}. "
            "The contracts: contracts/topics"
        )


class Stopped(UserError):
    """Kafka took only a part of the file."""

    def __init__(self, error: kafka.NotDelivered, found: Loaded) -> None:
        super().__init__(
            f"{error}. {found.published:,} rows had been acknowledged. Load the file again: "
            "an event that is in the log already is applied once."
        )


class Report:
    """The rows that were rejected: all of them in a file, the first ones on the screen."""

    def __init__(self, refusals: Refusals, *, hides: bool = False) -> None:
        """Hides: it does not say what was found where a customer or a card should be."""
        self.file = refusals.file
        self._refusals = refusals
        self._hides = hides
        self.first: list[Rejected] = []

    def add(self, rejected: Rejected) -> None:
        if self._hides:
            rejected = replace(rejected, faults=tuple(map(hide, rejected.faults)))
        faults = [asdict(fault) for fault in rejected.faults]
        self._refusals.add({"row": rejected.row, "faults": faults})
        if len(self.first) < REJECTED_SHOWN_MAX:
            self.first.append(rejected)


def hide(fault: Fault) -> Fault:
    """The fault, without what could name a person."""
    return replace(fault, found=HIDDEN) if fault.place in identities.FIELDS else fault


def load_command(
    file: Annotated[Path, typer.Argument(help="One event per line (.jsonl).")],
    topic: Annotated[str, typer.Option(help="The events' contract.")],
) -> None:
    """Publish the events of a file, sorted by the time they happened."""
    current, contract = read_settings(), require_public(topic)
    if not kafka.is_answering(current):
        raise kafka.KafkaDown(current.bootstrap_servers)
    validator = Validator(contract, Watch(current).look, identities.open_edge(current))
    with (
        lock_publishing(current.data_dir),
        report_refusals(current, f"load-{file.stem}") as refusals,
    ):
        report = Report(refusals, hides=current.pseudonyms)
        rows = sort_rows(file, str(contract.event_time))
        found = publish(current, rows, validator, report)
    show(found, report, contract)
    if found.rejected:
        raise typer.Exit(1)


def require_public(topic: str) -> Contract:
    if topic not in OPEN:
        raise UnknownTopic(topic)
    return OPEN[topic]


def publish(current: Settings, rows: Iterable[Row], validator: Validator, report: Report) -> Loaded:
    client = kafka.create_producer(current)
    found = Loaded()
    with screen.show_waiting("load", "sorting") as wait:
        try:
            for found in load(rows, validator, client, report.add):
                rate = found.rows / max(wait.seconds, 0.001)
                text = f"{found.rows:,} rows, {rate:,.0f}/s, {found.rejected:,} rejected"
                wait.show("load", text)
        except kafka.NotDelivered as error:
            raise Stopped(error, found) from error
    return found


def show(found: Loaded, report: Report, contract: Contract) -> None:
    screen.say(f"  {found.rows:,} rows · {found.published:,} published to {contract.name}")
    if found.reached:
        records = (
            f"min_offset={contract.name}/{at}/{offset}" for at, offset in found.reached.items()
        )
        screen.say(f"  an answer holds all of them with ?{'&'.join(records)}")
    if not found.rejected:
        return
    screen.say(f"  {found.rejected:,} rejected, all in {screen.shorten(report.file)}")
    for one in report.first:
        told = "; ".join(str(fault) for fault in one.faults[:FAULTS_SHOWN_MAX])
        more = len(one.faults) - FAULTS_SHOWN_MAX
        screen.say(f"    row {one.row}: {told}{f'; and {more} more' if more > 0 else ''}")
    problems = [fault.problem for one in report.first for fault in one.faults]
    if any(problem.startswith((EARLY, OLD)) for problem in problems):
        screen.say(ADVICE.rstrip())
