"""retail topics apply | list | read: what is on the broker, made from the contracts."""

import typer

from contracts import CONTRACTS, Contract
from infra import kafka
from infra.settings import Settings, read_settings
from ops.cli import records, screen
from ops.control.access import grant_access, is_standing

ANSWER_SECONDS_MAX = 10.0

app = typer.Typer(no_args_is_help=True, help="The topics: what the contracts ask for.")
app.command("read")(records.read)


def list_standing() -> dict[str, Contract]:
    """The topics that exist before any pipeline runs."""
    return {name: contract for name, contract in CONTRACTS.items() if is_standing(contract)}


def apply(current: Settings) -> str:
    """Make the missing topics; returns what was done, in words."""
    made = kafka.apply_topics(current, list_standing())
    there = len(list_standing()) - len(made)
    return f"{len(made)} made from contracts, {there} there already"


def grant(current: Settings) -> str:
    """Give a secure broker its users and permissions; returns what was done, in words."""
    users, grants = grant_access(current)
    return f"{users} users, {grants} permissions, by contract"


@app.command("apply")
def apply_command() -> None:
    """Make the topics that are missing."""
    screen.step("topics", apply(read_settings()))


@app.command("list")
def list_command() -> None:
    """Every topic with its partitions and records."""
    current = read_settings()
    if not kafka.is_answering(current):
        raise kafka.KafkaDown(current.bootstrap_servers)
    client = kafka.create_admin(current)
    present = client.list_topics(timeout=ANSWER_SECONDS_MAX).topics
    rows = []
    for name in sorted(present):
        ends = kafka.read_end_offsets(client, [name]).values()
        rows.append((name, str(len(ends)), f"{sum(ends):,}"))
    screen.print_table(("topic", "partitions", "end offsets"), rows)
