"""retail try: an experiment of the guide, explained step by step in the shop that runs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from infra.errors import UserError
from infra.processes import build_environment, capture
from infra.settings import Settings, locate_root, read_settings
from ops.cli import health, screen
from ops.cli.security import lend_credentials

GUIDE = Path("docs", "guide")
FILES = "[0-9][0-9]-*.md"
QUESTION = re.compile(r"\*Question: (?P<question>[^*]*?)\s+Takes (?P<minutes>\d+) minutes?;")
FENCED = re.compile(r"^```\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
PROMPT = "$ "
WRITTEN_API, WRITTEN_BROKER = "127.0.0.1:8000", "127.0.0.1:9092"
"""As pages write the addresses of a shop."""
COMMAND_SECONDS_MAX = 300


@dataclass(frozen=True)
class Experiment:
    """A page of the guide: an idea, and commands that show it."""

    name: str
    """As `retail try` is given it."""
    file: Path
    question: str
    minutes: int

    @classmethod
    def of(cls, file: Path) -> "Experiment":
        asked = QUESTION.search(file.read_text())
        assert asked, f"{file} has its question and how many minutes it takes"
        question = " ".join(asked["question"].split())
        return cls(file.stem[3:], file, question, int(asked["minutes"]))


def try_command(
    name: Annotated[str | None, typer.Argument(metavar="EXPERIMENT")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Which there are.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not wait between two steps.")] = False,
    script: Annotated[
        str | None,
        typer.Option("--sed", metavar="SCRIPT", help="Run the commands that sed changes by it."),
    ] = None,
) -> None:
    """Run an experiment of the guide in the shop that runs: each command, and what it answers."""
    experiments = {experiment.name: experiment for experiment in find_experiments()}
    if list_ or name is None:
        rows = (
            (title, f"{each.minutes} min", each.question) for title, each in experiments.items()
        )
        screen.print_table(("experiment", "takes", "question"), rows)
        screen.say("\n  One of them: retail try EXPERIMENT")
        return
    chosen = experiments.get(name)
    if chosen is None:
        raise UserError(f"Expected one of {', '.join(experiments)}; found {name}.")
    settings = read_settings()
    if health.check_api(settings, 0) is None:
        raise UserError(
            f"An experiment needs a shop that is ready at {settings.api_url}, but: "
            "it does not say that it is. Start it: make up"
        )
    if script is not None:
        for command in change(chosen, script):
            screen.say(run(settings, command))
        return
    for prose, command in parse_steps(chosen.file.read_text()):
        screen.say(prose)
        if not command:
            continue
        screen.say(f"\n{PROMPT}{command}")
        if not yes and sys.stdin.isatty():
            input("  [Enter] runs it ")
        screen.say(run(settings, command))


def find_experiments() -> list[Experiment]:
    """In the guide's order. Raises UserError."""
    folder = locate_root() / GUIDE
    if not folder.is_dir():
        raise UserError(
            f"The guide should be in {folder}, but is not: it comes with the project's "
            "repository. Run the command in a clone."
        )
    return [Experiment.of(file) for file in sorted(folder.glob(FILES))]


def change(experiment: Experiment, script: str) -> list[str]:
    """The commands that the script changes, changed. Raises UserError.

    It never changes `retail try`, with which a page names its own scripts.
    """
    changed = []
    for _, command in parse_steps(experiment.file.read_text()):
        done = subprocess.run(
            ["sed", script], input=command, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise UserError(f"Expected a script of sed; found {script}: {done.stderr.strip()}")
        if done.stdout != command and not command.startswith("retail try"):
            changed.append(done.stdout)
    if not changed:
        raise UserError(
            f"Expected a script that changes a command of {experiment.file}; found {script}."
        )
    return changed


def parse_steps(page: str) -> Iterator[tuple[str, str]]:
    """The words before each command of the page, with the command; last the words at the end.

    Drawings belong to the words.
    """
    prose, end = "", 0
    for block in FENCED.finditer(page):
        if not block[1].startswith(PROMPT):
            continue
        prose = page[end : block.start()].strip("\n")
        for command, _ in parse_exchanges(block[1]):
            yield prose, command
            prose = ""
        end = block.end()
    yield page[end:].strip("\n"), ""


def parse_exchanges(block: str) -> Iterator[tuple[str, str]]:
    r"""The commands of a block after their prompts, and what each of them answers.

    A command goes on after a line that ends in \\, and within single quotes.
    """
    for part in re.split(rf"^{re.escape(PROMPT)}", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = next(
            number for number in range(1, len(lines) + 1) if is_whole("".join(lines[:number]))
        )
        yield "".join(lines[:count]).removesuffix("\n"), "".join(lines[count:])


def is_whole(command: str) -> bool:
    return not command.rstrip("\n").endswith("\\") and command.count("'") % 2 == 0


def localize(settings: Settings, block: str) -> str:
    """The block with the addresses of this shop, and not otherwise changed."""
    here = block.replace(f"http://{WRITTEN_API}", settings.api_url)
    here = here.replace(WRITTEN_API, urlsplit(settings.api_url).netloc)
    return here.replace(WRITTEN_BROKER, settings.bootstrap_servers)


def run(settings: Settings, command: str) -> str:
    """What the command prints, with the addresses of this shop, as its operator.

    Raises UserError.
    """
    here = localize(settings, command)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    with lend_credentials(settings) as credentials:
        done = capture(
            ["bash", "-euo", "pipefail", "-c", here],
            COMMAND_SECONDS_MAX,
            locate_root(),
            {**build_environment(settings), **credentials, "PATH": path},
        )
    if done.returncode != 0:
        screen.say(f"{done.stdout}{done.stderr}")
        raise UserError(
            f"This command should have succeeded, but ended with {done.returncode}:\n{here}"
        )
    return done.stdout
