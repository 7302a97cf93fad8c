"""The command line `retail`."""

import logging
import sys

import typer

from infra.cli.backfill import backfill
from infra.cli.bench import bench
from infra.cli.contracts import app as contracts
from infra.cli.doctor import doctor
from infra.cli.down import down
from infra.cli.load import load_command
from infra.cli.logs import logs
from infra.cli.quality import quality
from infra.cli.quarantine import app as quarantine
from infra.cli.replay.app import app as replay
from infra.cli.reset import reset
from infra.cli.score import app as score
from infra.cli.status import status
from infra.cli.topics import app as topics
from infra.cli.up import up
from infra.cli.verify import verify
from infra.errors import Trouble

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A retailer run on a log: start it, look at it, check its numbers.",
)
for command in (up, backfill, down, status, logs, reset, doctor, verify, quality, bench):
    app.command()(command)
app.command("load")(load_command)
app.add_typer(topics, name="topics")
app.add_typer(contracts, name="contracts")
app.add_typer(replay, name="replay")
app.add_typer(score, name="score")
app.add_typer(quarantine, name="quarantine")


def main() -> None:
    # A broker that does not answer is said by the command itself, once.
    logging.getLogger("kafka").addHandler(logging.NullHandler())
    try:
        app()
    except Trouble as trouble:
        sys.exit(str(trouble))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. What was started goes on: make status · make down")


if __name__ == "__main__":
    main()
