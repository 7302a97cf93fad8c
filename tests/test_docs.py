"""What the documents name is there: targets, commands, modules, files, links, routes, variables."""

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup

from contracts import CONTRACTS
from infra.settings import Settings, locate_root
from ops.cli.main import COMMANDS, load_command
from services.api.app import create_app
from services.api.routes.pages import PAGES
from tests.rooms import ROOMS
from tests.seeds import STEPS_VARIABLE
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources

BELOW = [file for room in (*ROOMS, "docs") for file in (locate_root() / room).rglob("*.md")]
DOCUMENTS = sorted([*locate_root().glob("*.md"), *BELOW])
LINES_MAX = {"README.md": 120, "ARCHITECTURE.md": 150}

FENCED = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAKE = re.compile(r"(?<![\w./-])make(?: [A-Z_]+=\S+)* ([a-z][a-z-]*)")
RETAIL = re.compile(r"(?<![\w-])retail((?: +(?:[a-z][a-z-]*|--[a-z-]+))+)")
MODULE = re.compile(r"python -m ([\w.]+)")
ROUTE = re.compile(r"(?:GET |127\.0\.0\.1:8000)(/[^\s'?`,]*)")
ASSIGNED = re.compile(r"(?<![\w$.-])([A-Z][A-Z0-9_]+)=")
DECISION = re.compile(r"# (\d+)\. (.+)\n\n\*\*Context\.\*\* ")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")

SUFFIXES = (".py", ".md", ".yaml", ".json", ".toml", ".sql", ".conf", ".lock", ".in")
MADE_AT_RUN_TIME = ("data", ".venv")
OF_SPARK = ("spark-defaults.conf", "SPARK_CONF_DIR", "SPARK_MASTER_PORT")
OF_STORES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL")
OTHERS = {"JAVA_TOOL_OPTIONS", "COMPOSE_FILE", "CURL_HOME", *OF_SPARK, *OF_STORES}
"""Names that Docker, Spark, object stores and curl gave."""
FIXED_ROUTES = {*PAGES, "/docs", "/openapi.json"}
"""Not part of the document that lists the others."""

Finder = Callable[[str, Path], Iterator[str]]


def list_code(text: str) -> Iterator[str]:
    """Everything set as code: each line of a block, and each span."""
    for block in FENCED.findall(text):
        yield from block.splitlines()
    yield from list_spans(text)


def list_spans(text: str) -> list[str]:
    return SPAN.findall(FENCED.sub("", text))


def find_in_code(pattern: re.Pattern[str], text: str) -> list[str]:
    return [found for line in list_code(text) for found in pattern.findall(line)]


def read(name: str) -> str:
    return (locate_root() / name).read_text()


def find_unknown_targets(text: str, _: Path) -> Iterator[str]:
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
    yield from (f"make {verb}" for verb in find_in_code(MAKE, text) if verb not in targets)


def find_unknown_commands(text: str, _: Path) -> Iterator[str]:
    for words in find_in_code(RETAIL, text):
        if not is_command(words.split()):
            yield f"retail{words}"


def is_command(words: list[str]) -> bool:
    """Whether the words walk down to a command that has each of the options."""
    first, *rest = words
    if first not in COMMANDS:
        return first in ("--help", "--version")
    command = load_command(first)
    for word in rest:
        if word.startswith("--"):
            if word != "--help" and not any(word in option.opts for option in command.params):
                return False
        elif isinstance(command, TyperGroup):
            if word not in command.commands:
                return False
            command = command.commands[word]
    return True


def find_unknown_modules(text: str, _: Path) -> Iterator[str]:
    yield from (name for name in find_in_code(MODULE, text) if not is_module(name))


def is_module(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def find_missing_files(text: str, document: Path) -> Iterator[str]:
    """Paths from the repository's root or from the document's folder."""
    for span in list_spans(text):
        named = PATH.fullmatch(span) and ("/" in span or span.endswith(SUFFIXES))
        later = span.split("/")[0] in MADE_AT_RUN_TIME
        there = any((folder / span).exists() for folder in (locate_root(), document.parent))
        if named and not (later or there or span in OTHERS or is_key(span)):
            yield span


def is_key(span: str) -> bool:
    """A record's key, as in `store_id/sku`: fields joined as in a path."""
    return any(span == "/".join(contract.key) for contract in CONTRACTS.values())


def find_broken_links(text: str, document: Path) -> Iterator[str]:
    for target in LINK.findall(FENCED.sub("", text)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        if not file.exists() or (anchor and anchor not in list_anchors(file)):
            yield target


def list_anchors(file: Path) -> set[str]:
    """The headings, as their links spell them."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", file.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def find_unknown_routes(text: str, _: Path) -> Iterator[str]:
    for route in find_in_code(ROUTE, text):
        if not any(pattern.fullmatch(route) for pattern in list_routes()):
            yield route


@cache
def list_routes() -> list[re.Pattern[str]]:
    served = create_app(create_sources(MemoryLog(), Path("unused"))).openapi()["paths"]
    routes = [re.sub(r"\{\w+\}", "[^/]+", route) for route in (*served, *FIXED_ROUTES)]
    return [re.compile(route.replace(".", r"\.")) for route in routes]


def find_unknown_variables(text: str, _: Path) -> Iterator[str]:
    variables = {*(name.upper() for name in Settings.model_fields), STEPS_VARIABLE, *OTHERS}
    variables |= {*re.findall(r"\$\(([A-Z]+)\)", read("Makefile")), *list_command_variables()}
    for file in (".env", "infra/cluster.env"):
        variables |= {*ASSIGNED.findall(read(file))}
    for file in (".env", "infra/cluster.env", ".ci/containers"):
        variables |= {*re.findall(r"\$\{([A-Z_]+):-", read(file))}
    yield from (name for name in find_in_code(ASSIGNED, text) if name not in variables)
    yield from (
        span for span in list_spans(text) if VARIABLE.fullmatch(span) and span not in variables
    )


def list_command_variables() -> set[str]:
    """Variables that a command reads in place of an option."""
    options = [option for name in COMMANDS for option in load_command(name).params]
    return {str(option.envvar) for option in options if option.envvar}


@pytest.mark.parametrize(("name", "lines_max"), LINES_MAX.items())
def test_a_document_for_newcomers_is_short(name: str, lines_max: int) -> None:
    assert len(read(name).splitlines()) <= lines_max


def test_a_decision_is_named_by_its_number_and_title() -> None:
    for file in (locate_root() / "docs" / "decisions").glob("[0-9]*.md"):
        head = DECISION.match(file.read_text())
        assert head, f"{file.name} should begin with number, title and context"
        number, title = head.groups()
        words = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        assert file.name == f"{int(number):04d}-{words}.md"


def test_every_room_and_pipeline_has_a_readme() -> None:
    rooms = {locate_root() / room for room in ROOMS}
    rooms |= {file.parent for file in locate_root().glob("pipelines/*/pipeline.py")}
    assert [room for room in rooms if not (room / "README.md").exists()] == []


EXAMPLES: Mapping[Finder, tuple[str, str]] = {
    find_unknown_targets: ("`make up SIMULATOR_SPEED=60`, we make do", "make coffee"),
    find_unknown_commands: ("`bin/retail status --json`", "retail status --xml"),
    find_unknown_modules: ("`python -m infra.jars.lock`", "python -m infra.jars.key"),
    find_missing_files: ("`contracts/topics`, `data/api`, `store_id/sku`", "design.md"),
    find_unknown_routes: ("`GET /v1/stock/S003/SKU-7`", "GET /v1/shelf"),
    find_unknown_variables: ("`make reset YES=1`, `COMPONENT=api`", "DATA_FOLDER"),
}
"""What each lets pass, and what it finds."""


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(locate_root()))
)
def test_every_name_in_a_document_exists(document: Path) -> None:
    text, finders = document.read_text(), (*EXAMPLES, find_broken_links)
    assert [found for find in finders for found in find(text, document)] == []


@pytest.mark.parametrize("find", EXAMPLES)
def test_a_wrong_name_is_found_and_a_right_one_is_not(find: Finder) -> None:
    readme, (right, wrong) = locate_root() / "README.md", EXAMPLES[find]
    assert list(find(right, readme)) == []
    [found] = find(f"{right}\n\n`{wrong}`\n", readme)
    assert found in wrong


def test_a_link_leads_to_a_file_and_a_heading() -> None:
    text = "[law](LICENSE), [web](https://a.b/c), [a](README.md#your-own-data), [b](README.md#no)"
    assert list(find_broken_links(text, locate_root() / "README.md")) == ["README.md#no"]
