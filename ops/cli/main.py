"""The command line `retail`."""

import ast
import logging
import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import typer

from infra.errors import UserError
from ops.cli.interruption import INTERRUPTED, interrupt_when_ended

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "up": "up:up",
        "backfill": "backfill:backfill",
        "down": "down:down",
        "status": "status:status",
        "logs": "logs:logs",
        "reset": "reset:reset",
        "doctor": "doctor:doctor",
        "aot": "aot:aot",
        "verify": "verify:verify",
        "quality": "quality:quality",
        "bench": "bench:bench",
        "load": "load:load_command",
        "import": "importing:import_command",
        "topics": "topics:app",
        "contracts": "contracts:app",
        "replay": "replay.app:app",
        "score": "score:app",
        "fault": "fault:app",
        "backup": "backup:backup",
        "restore": "backup:restore",
        "quarantine": "quarantine:app",
        "security": "security:app",
        "token": "tokens:app",
        "subscriptions": "subscriptions:app",
        "forget": "forget:app",
        "try": "experiments:try_command",
    }
)
"""The module of each command, below this folder; a group of commands or a single one."""


def build_application(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands; only the modules of the commands named are imported."""
    app = create_application()
    for name in names:
        module, _, what = COMMANDS[name].partition(":")
        command = getattr(import_module(f"ops.cli.{module}"), what)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def build_overview() -> typer.Typer:
    """The command line for who names no command: it says what each does, and can do none.

    To import all of them takes five seconds.
    """
    app = create_application()
    for name, place in COMMANDS.items():
        app.command(name, help=read_help(place))(lambda: None)
    return app


def create_application() -> typer.Typer:
    """The command line, yet without commands."""
    return typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="A retailer run on a log: start it, look at it, check its numbers.",
        callback=lambda: None,  # a single command is named, too
    )


def read_help(place: str) -> str:
    """The help of a command or a group, from its source."""
    module, _, what = place.partition(":")
    file = Path(__file__).parent / f"{module.replace('.', '/')}.py"
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == what:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == what:
            assert isinstance(node.value, ast.Call)
            [text] = [one.value for one in node.value.keywords if one.arg == "help"]
            return str(ast.literal_eval(text))
    raise LookupError(f"ops/cli/{module}.py should define {what}, but does not")


def main() -> None:
    interrupt_when_ended()
    # In a container it names the service there; a person's command is the operator's.
    os.environ.pop("KAFKA_SERVICE", None)
    # The command itself reports a broker that does not answer, once.
    logging.getLogger("kafka").addHandler(logging.NullHandler())
    named = COMMANDS.keys() & set(sys.argv[1:2])
    nowhere = COMMANDS.keys().isdisjoint(sys.argv[1:])
    try:
        (build_overview() if nowhere else build_application(named or COMMANDS))()
    except UserError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if (message := explain(error)) is None:
            raise
        sys.exit(message)


OF_CONTRACTS = {"BadContract", "BadContracts", "StaleLock", "AmbiguousSchema", "UnknownContract"}
"""Errors of contracts, whose messages tell the author what to fix.

They are compared by name: while a contract is bad, the module that defines them cannot be imported.
"""


def explain(error: Exception) -> str | None:
    """The message for an error of the user: a bad contract, or a broker that does not answer.

    None: the error is a defect of this project, and needs its traceback.
    """
    from confluent_kafka import KafkaException  # imported here: few commands need them

    from infra.kafka import KafkaDown
    from infra.kafka.errors import UNREACHABLE, get_error_code
    from infra.settings import read_settings

    if type(error).__name__ in OF_CONTRACTS:
        return str(error)
    if isinstance(error, KafkaException) and get_error_code(error) in UNREACHABLE:
        return str(KafkaDown(read_settings().bootstrap_servers))
    return None


if __name__ == "__main__":
    main()
