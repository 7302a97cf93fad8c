"""retail quarantine: what was rejected, why, and what can still be counted."""

import json
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from contracts.times import to_instant
from contracts.validation import VALIDATED, Rejection, validate
from infra import kafka
from infra.errors import UserError
from infra.http import NO_ANSWER, fetch_json
from infra.kafka import Record
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.exclusive import lock_home
from services.quarantine import release as releasing
from services.quarantine.release import read_record
from services.quarantine.remedy import dissect, find_remedy

ANSWER_SECONDS_MAX = 30.0
LIMIT_DEFAULT, LIMIT_MAX = 20, 500
REST_SHOWN_MAX = 4_096

app = typer.Typer(no_args_is_help=True, help="What was rejected, and releasing it.")

Place = Annotated[str, typer.Argument(help="Where it lies: TOPIC/PARTITION/OFFSET.")]


@app.command("list")
def list_command(
    topic: Annotated[str, typer.Option(help="Records of this topic only.")] = "",
    reason: Annotated[str, typer.Option(help="Rejected for this reason only.")] = "",
    limit: Annotated[
        int, typer.Option(min=1, max=LIMIT_MAX, help="Show this many, the newest first.")
    ] = LIMIT_DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show how many records were rejected and why, and the newest of them."""
    asked = {"topic": topic, "reason": reason, "limit": limit}
    found = fetch_list(read_settings(), {name: value for name, value in asked.items() if value})
    if as_json:
        print(json.dumps(found))
        return
    if not found["counts"]:
        screen.say("  The quarantine is empty.")
        return
    screen.print_table(
        ("records", "reason", "topic"),
        ((f"{one['records']:>7,}", one["reason"], one["topic"]) for one in found["counts"]),
    )
    screen.say("")
    screen.print_table(
        ("published", "reason", "place"),
        (
            (
                one["published_at"],
                one["reason"],
                f"{one['topic']}/{one['partition']}/{one['offset']}",
            )
            for one in found["items"]
        ),
    )
    screen.say("\n  One of them: retail quarantine show TOPIC/PARTITION/OFFSET")


@app.command()
def show(place: Place) -> None:
    """Show one record, decoded as far as possible, and what can be done about it."""
    current = require_broker()
    record = read_record(current, *parse_place(place))
    contract = VALIDATED[record.topic]
    found = validate(contract, record.key, record.value, record.published_ms, record.partition)
    for name, text in describe_record(record).items():
        screen.step(name, text)
    parts = dissect(contract, record.value)
    for name, value in parts.fields.items():
        screen.step(name, render_text(value))
    if parts.rest:
        more = "…" if len(parts.rest) > REST_SHOWN_MAX else ""
        digits = parts.rest[:REST_SHOWN_MAX].hex()
        screen.step("rest", f"{len(parts.rest):,} bytes: {digits}{more}")
    if parts.fault:
        screen.step("ends", parts.fault)
    screen.say("")
    if not isinstance(found, Rejection):
        screen.say("  It was not rejected. It has been counted, unless an earlier copy was.")
        return
    screen.say(f"  {found.reason}: {found.found}")
    screen.say(f"  {find_remedy(contract, found.reason, record.value).text}")


@app.command()
def release(
    place: Place,
    because: Annotated[str, typer.Option(help="Why the event shall count; kept with the release.")],
) -> None:
    """Publish a new event that wraps the record, so that running sums count it once."""
    current = require_broker()
    with (
        lock_home(current.data_dir / "quarantine", "releasing a record of"),
        screen.show_waiting("release", "reading") as wait,
    ):

        def tell(topic: str, read: int, total: int) -> None:
            wait.show("release", f"{screen.render_bar(read, total)} {topic}")

        done = releasing.release(current, parse_place(place), because, tell)
    screen.say(f"  Released: {done.topic}/{done.partition}/{done.offset} wraps {place}.")
    taken = list_takers()
    if taken:
        screen.say(f"  {', '.join(taken)} count {done.event['event_id']} at the time it happened.")
    else:
        screen.say("  No view reads it yet.")
    screen.say("  Windows that have closed do not count it, live or replayed.")


def fetch_list(current: Settings, asked: Mapping[str, Any]) -> Any:
    url = f"{current.api_url}/v1/quarantine"
    try:
        return fetch_json(f"{url}?{urlencode(asked)}", ANSWER_SECONDS_MAX, current)
    except NO_ANSWER as error:
        raise UserError(
            f"{url} should list the quarantine, but: {error}. Start it: make up"
        ) from error


def require_broker() -> Settings:
    current = read_settings()
    if not kafka.is_answering(current):
        raise kafka.KafkaDown(current.bootstrap_servers)
    return current


def parse_place(text: str) -> tuple[str, int, int]:
    """The place that the text names; raises UserError."""
    topic, *numbers = text.rsplit("/", 2)
    if topic not in VALIDATED or len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
        raise UserError(
            "Expected TOPIC/PARTITION/OFFSET, as public.sales.receipt.v1/2/10415, of a topic of "
            f"events; found {text}. See what there is: retail quarantine list"
        )
    return topic, int(numbers[0]), int(numbers[1])


def list_takers() -> list[str]:
    """The views that count releases."""
    from pipelines.common.pipeline import list_pipelines, load  # here: it takes Spark's second

    declared = [load(name) for name in list_pipelines()]
    return [view.contract.name for one in declared for view in one.views if view.ends is None]


def describe_record(record: Record) -> dict[str, str]:
    at = to_instant(record.published_ms)
    return {
        "place": f"{record.topic}/{record.partition}/{record.offset}",
        "published": f"{record.published_ms} ms of 1970" if at is None else at.isoformat(),
        "key": render_text(record.key),
        "value": "none" if record.value is None else f"{len(record.value):,} bytes",
        **{f"header {name}": render_text(value) for name, value in record.headers},
    }


def render_text(value: object) -> str:
    if isinstance(value, bytes):
        return f"{value.hex()} ({value!r})"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
