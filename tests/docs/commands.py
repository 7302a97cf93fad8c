"""Finds what a document tells to run or to set and what is not there."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperGroup

from cli.main import application
from infra.settings import Settings, root
from tests.docs.text import list_code, list_spans

MAKE = re.compile(r"(?<![\w./-])make((?: [A-Z_]+=\S+)*) ([a-z][a-z-]*)")
RETAIL = re.compile(r"(?<![\w-])retail((?: +(?:[a-z][a-z-]*|--[a-z-]+))+)")
MODULE = re.compile(r"python -m ([\w.]+)")
ASSIGNED = re.compile(r"(?<![\w$.-])([A-Z][A-Z0-9_]+)=")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

OTHERS = {
    "JAVA_TOOL_OPTIONS",
    "COMPOSE_FILE",
    "spark-defaults.conf",
    "SPARK_CONF_DIR",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_REGION",
    "AWS_ENDPOINT_URL",
}
"""Names that Docker, Spark and object stores gave."""


def find_unknown_targets(text: str, _: Path) -> Iterator[str]:
    known = re.findall(r"^([a-z-]+):", (root() / "Makefile").read_text(), re.MULTILINE)
    for line in list_code(text):
        yield from (f"make {verb}" for _, verb in MAKE.findall(line) if verb not in known)


def find_unknown_commands(text: str, _: Path) -> Iterator[str]:
    for line in list_code(text):
        for words in RETAIL.findall(line):
            if not is_command(words.split()):
                yield f"retail{words}"


def is_command(words: list[str]) -> bool:
    """Whether the words walk down to a command that has each of the options."""
    at = typer.main.get_command(application())
    for word in words:
        if word.startswith("--"):
            if word != "--help" and not any(word in option.opts for option in at.params):
                return False
        elif isinstance(at, TyperGroup):
            if word not in at.commands:
                return False
            at = at.commands[word]
    return True


def find_unknown_modules(text: str, _: Path) -> Iterator[str]:
    for line in list_code(text):
        for name in MODULE.findall(line):
            if not is_module(name):
                yield name


def is_module(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def find_unknown_variables(text: str, _: Path) -> Iterator[str]:
    known = (
        {name.upper() for name in Settings.model_fields}
        | list_make_variables()
        | list_command_variables()
        | OTHERS
    )
    for file in (".env", "cluster.env"):
        known |= set(ASSIGNED.findall((root() / file).read_text()))
        known |= set(re.findall(r"\$\{([A-Z_]+):-", (root() / file).read_text()))
    known |= set(re.findall(r"\$\{([A-Z_]+):-", (root() / ".ci" / "containers").read_text()))
    for line in list_code(text):
        yield from (name for name in ASSIGNED.findall(line) if name not in known)
    yield from (span for span in list_spans(text) if VARIABLE.fullmatch(span) and span not in known)


def list_make_variables() -> set[str]:
    return set(re.findall(r"\$\(([A-Z]+)\)", (root() / "Makefile").read_text()))


def list_command_variables() -> set[str]:
    """Variables that a command reads in place of an option."""
    group = typer.main.get_command(application())
    assert isinstance(group, TyperGroup)
    options = [option for command in group.commands.values() for option in command.params]
    return {str(option.envvar) for option in options if option.envvar}
