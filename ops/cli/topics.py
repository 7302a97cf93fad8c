"""retail topics list | read: what is on the broker; the topics that the contracts ask for."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Annotated, Any

import typer
from confluent_kafka import Message

from contracts import CONTRACTS, GENERATIONS, Contract, decode
from contracts.documents import to_document
from contracts.errors import Undecodable
from contracts.times import to_epoch_ms, to_instant, to_text
from infra import kafka
from infra.errors import UserError
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.options import parse_moment
from ops.control.access import grant_access, is_standing
from ops.generations.record import read_generations

EARLIEST, LATEST = "earliest", "latest"
RECORDS_DEFAULT, RECORDS_MAX = 5, 1_000_000
LISTED_MAX = 5
ANSWER_SECONDS_MAX = 10.0

app = typer.Typer(no_args_is_help=True)


def list_standing() -> dict[str, Contract]:
    """The topics that exist before any pipeline runs."""
    return {name: contract for name, contract in CONTRACTS.items() if is_standing(contract)}


def grant(current: Settings) -> str:
    """Give a secure broker its users and permissions; returns what was done, in words."""
    users, grants = grant_access(current)
    return f"{users} users, {grants} permissions, by contract"


def require_broker(current: Settings) -> Settings:
    """The settings again, where the broker answers. Raises KafkaDown."""
    if not kafka.is_answering(current):
        raise kafka.KafkaDown(current.bootstrap_servers)
    return current


@app.command("list")
def list_command() -> None:
    """Every topic with its partitions and records."""
    client = kafka.create_admin(require_broker(read_settings()))
    present = client.list_topics(timeout=ANSWER_SECONDS_MAX).topics
    rows = []
    for name in sorted(present):
        ends = kafka.read_end_offsets(client, [name]).values()
        rows.append((name, str(len(ends)), f"{sum(ends):,}"))
    screen.print_table(("topic", "partitions", "end offsets"), rows)


@app.command()
def read(
    name: Annotated[str, typer.Argument(metavar="TOPIC", help="A topic, or a view.")],
    since: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="earliest|latest|OFFSET|TIME",
            help="Where to begin; latest: so that the newest record is the last one shown.",
        ),
    ] = EARLIEST,
    partition: Annotated[int | None, typer.Option(min=0, help="This one only.")] = None,
    records_max: Annotated[
        int, typer.Option("--max", min=1, max=RECORDS_MAX, help="So many of each partition.")
    ] = RECORDS_DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="A line for each record.")] = False,
) -> None:
    """Show records from an offset on: place, time of publication, key, and value as JSON.

    Reading removes nothing: the same command shows the same records again.
    """
    settings = require_broker(read_settings())
    topic = find_topic(settings, name)
    for message in read_records(settings, topic, since, partition, records_max):
        described = describe(message)
        screen.say(json.dumps(described, ensure_ascii=False) if as_json else render(described))


def find_topic(settings: Settings, name: str) -> str:
    """The broker's topic; for a view, the changelog that readers follow. Raises UserError."""
    present = kafka.create_admin(settings).list_topics(timeout=ANSWER_SECONDS_MAX).topics
    if GENERATIONS.name in present:
        for of_pipeline in read_generations(settings).values():
            promoted = of_pipeline.promoted
            if promoted is not None and name in promoted.outputs:
                return promoted.outputs[name]
    if name in present:
        return name
    last = name.rsplit(".", 2)[0]
    like = [each for each in CONTRACTS if each.startswith(last) or name in each]
    meant = f" Did you mean {' or '.join(like[:LISTED_MAX])}?" if like else ""
    raise UserError(
        f"Expected a topic of the broker, or a view that a pipeline writes; found {name}."
        f"{meant} See: retail topics list"
    )


def read_records(
    settings: Settings, topic: str, since: str, partition: int | None, records_max: int
) -> Iterator[Message]:
    """Up to this many records of each partition, one partition after the other.

    `since`: the command's option. Raises UserError for a partition, an offset or a time that
    is not there.
    """
    client = kafka.create_admin(settings)
    starts = kafka.read_start_offsets(client, [topic])
    ends = kafka.read_end_offsets(client, [topic])
    if partition is not None:
        if (topic, partition) not in ends:
            raise UserError(
                f"--partition: {topic} has partitions 0 to {len(ends) - 1}; found {partition}."
            )
        starts, ends = ({(topic, partition): each[topic, partition]} for each in (starts, ends))
    begins = find_first_offsets(settings, topic, since, starts, ends, records_max)
    for key in sorted(ends):
        # A compacted topic has gaps: it is read to its end until there are enough.
        records = kafka.read_between(settings, {key: begins[key]}, {key: ends[key]})
        with closing(records):
            yield from islice(records, records_max)


def find_first_offsets(
    settings: Settings,
    topic: str,
    since: str,
    starts: kafka.Offsets,
    ends: kafka.Offsets,
    records_max: int,
) -> kafka.Offsets:
    """Where reading begins in each partition."""
    if since == EARLIEST:
        return starts
    if since == LATEST:
        return {key: max(starts[key], end - records_max) for key, end in ends.items()}
    if since.isdecimal():
        offset = int(since)
        if all(not starts[key] <= offset <= end for key, end in ends.items()):
            raise UserError(
                f"--from: {topic} holds offsets from {min(starts.values())} on, and the next "
                f"record will be at {max(ends.values())}; found {offset}."
            )
        return {key: min(max(offset, starts[key]), end) for key, end in ends.items()}
    at_ms = to_epoch_ms(parse_moment("--from", since, f"an offset, {EARLIEST} or {LATEST}"))
    return kafka.find_offsets_at(kafka.create_admin(settings), [topic], at_ms)


def describe(message: Message) -> dict[str, Any]:
    """The record's place, its timestamp in world time, its key and its value."""
    _, at_ms = message.timestamp()
    published = to_instant(at_ms)
    return {
        "partition": message.partition(),
        "offset": message.offset(),
        "published_at": published and to_text(published),
        "key": (message.key() or b"").decode(errors="replace"),
        "value": describe_value(message.value()),
    }


def describe_value(value: bytes | None) -> dict[str, Any] | None:
    """The value for JSON; None for a tombstone; its bytes where it cannot be decoded."""
    if value is None:
        return None
    try:
        decoded = decode(value)
    except Undecodable as fault:
        return {"undecodable": str(fault), "bytes": value.hex()}
    return to_document(decoded.contract, decoded.value)


def render(described: Mapping[str, Any]) -> str:
    place = f"{described['partition']}/{described['offset']}"
    value = json.dumps(described["value"], ensure_ascii=False)
    return f"{place:>10}  {described['published_at']}  {described['key']}  {value}"
