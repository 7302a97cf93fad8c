"""The command line `retail`."""

import logging
import os
import signal
import sys
from collections.abc import Mapping
from importlib import import_module, metadata
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from contracts.errors import BadContract, StaleLock, UnknownContract
from infra.errors import UserError
from ops.cli.screen import INTERRUPTED


class Place(NamedTuple):
    """Where a command is, below this folder, and what the list of commands says of it."""

    module: str
    function: str
    help: str


PANELS: Mapping[str, Mapping[str, Place]] = {
    "Run a shop": {
        "up": Place("up", "up", "Start everything, and return when stock can be read."),
        "backfill": Place("backfill", "backfill", "Publish the world's first days at full speed."),
        "simulate": Place("simulate", "simulate", "Turn the load of the running world."),
        "status": Place("status", "status", "Show every component: state, address, log."),
        "logs": Place("status", "logs", "Show the end of the logs."),
        "down": Place("down", "down", "Stop everything; the data stays, and `up` continues."),
        "reset": Place("down", "reset", "Stop everything and remove the data, after a question."),
        "backup": Place("backup", "app", "Copy a running shop, and make a shop of the copy."),
        "security": Place("security", "app", "With SECURE=on: the tokens."),
    },
    "Check and explore": {
        "verify": Place("verify", "verify", "Compare what is served with independent answers."),
        "score": Place("score", "app", "Compare answers with what the simulator did."),
        "fault": Place("fault", "app", "Faults on demand, each with its promise."),
        "bench": Place("bench", "bench", "Measure how fast the project is; takes over an hour."),
        "sql": Place("sql", "sql", "Ask the lake's tables in SQL."),
        "try": Place("experiments", "try_command", "Run an experiment of the guide."),
    },
    "Change code and contracts": {
        "replay": Place("replay", "app", "Run changed code from offset zero, beside the old."),
        "contracts": Place("contracts", "app", "Who reads what, and whom a change breaks."),
        "topics": Place("topics", "app", "What is on the broker."),
    },
    "Publish, release, erase": {
        "import": Place("importing", "import_command", "Publish the sales of a shop's own files."),
        "quarantine": Place("quarantine", "app", "Release what was rejected."),
        "forget": Place("forget", "app", "Erase the ids of a customer."),
    },
}
COMMANDS = {name: place for each in PANELS.values() for name, place in each.items()}


class Commands(TyperGroup):
    """Commands of which only the help is known; the module of one is imported when it is called.

    To import all of them takes five seconds.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name), rest


def load_command(name: str) -> Any:
    """The command or the group of this name, with its options."""
    place = COMMANDS[name]
    found = getattr(import_module(f"ops.cli.{place.module}"), place.function)
    if isinstance(found, typer.Typer):
        found.info.help = place.help
        command: Any = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(help=found.__doc__ or place.help)(found)
        command = typer.main.get_command(alone)
    command.name = name
    return command


def build_application() -> typer.Typer:
    app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback(help="A retailer run on a log: start it, look at it, check its numbers.")(retail)
    for panel, commands in PANELS.items():
        for name, place in commands.items():
            app.command(name, help=place.help, rich_help_panel=panel)(lambda: None)
    return app


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(metadata.version("retail"))
        raise typer.Exit


def retail(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nothing but the options before a command."""


def main() -> None:
    interrupt_when_ended()
    # In a container it names the service there; a person's command is the operator's.
    os.environ.pop("KAFKA_SERVICE", None)
    # The command itself reports a broker that does not answer, once.
    logging.getLogger("kafka").addHandler(logging.NullHandler())
    try:
        build_application()()
    except (UserError, BadContract, StaleLock, UnknownContract) as error:
        sys.exit(str(error))  # that of a contract, too, says what to fix
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        # Imported here: few commands need it.
        from confluent_kafka import KafkaException

        from infra.kafka.errors import UNREACHABLE, KafkaDown, get_error_code
        from infra.settings import read_settings

        if not (isinstance(error, KafkaException) and get_error_code(error) in UNREACHABLE):
            raise
        sys.exit(str(KafkaDown(read_settings().bootstrap_servers)))


def interrupt_when_ended() -> None:
    """Let what ends this process interrupt it, as Ctrl-C does, so that a command tidies up.

    A paused process goes on then, and a folder of its own is gone. Under `nohup` a terminal that
    closes still ends nothing.
    """
    for what in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(what) is signal.SIG_DFL:
            signal.signal(what, signal.default_int_handler)


if __name__ == "__main__":
    main()
