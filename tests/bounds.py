"""docs/bounds.md, written from the bounds and the tests that cross them: `python -m tests.bounds`.

A test that goes up to a bound and beyond it says so: `@pytest.mark.crosses("a bound's name")`, with
stars where it goes through many. A run of all tests fails if no such test of a bound has passed.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from infra.settings import locate_root
from ops.verify.bounds import Bound, list_bounds

DOCUMENT = locate_root() / "docs" / "bounds.md"
MARK = "pytest.mark.crosses"

NO_ANSWER = "only how long something takes depends on it, no answer"
NOT_CROSSED: Mapping[str, str] = {
    "contracts/evolution/wire/*": NO_ANSWER,
    "contracts/loader/SOURCES_MAX": NO_ANSWER,
    "contracts/writing/ENTRY_BYTES_MAX": NO_ANSWER,
    "infra/kafka/read/RECORDS_PER_POLL_MAX": NO_ANSWER,
    "generators/log_end/CHUNK_RECORDS_MAX": NO_ANSWER,
    "generators/rows/MEMORY_MAX": NO_ANSWER,
    "pipelines/engine/session/SLOTS_MAX": NO_ANSWER,
    "pipelines/engine/session/METHOD_BYTES_MAX": NO_ANSWER,
    "services/api/store/changelog/RECORDS_PER_READ_MAX": NO_ANSWER,
    "services/api/store/database/*": NO_ANSWER,
    "services/api/store/snapshots/CACHE_KIB_MAX": NO_ANSWER,
    "services/quarantine/follower/RECORDS_PER_BATCH_MAX": NO_ANSWER,
    "services/supplier/follower/ORDERS_PER_BATCH_MAX": NO_ANSWER,
    "services/traces/ROWS_PER_BATCH_MAX": NO_ANSWER,
    "ops/verify/log/FETCH_BYTES_MAX": NO_ANSWER,
    "ops/control/world_clock/BEATS_READ_MAX": NO_ANSWER,
}
"""Bounds that need no test, each with the reason."""

INTRODUCTION = """\
# Bounds

`python -m tests.bounds` writes this file from the contracts, the code and the settings, where each
bound is declared, and from the tests that cross it: at the bound, one less, one more, and far
beyond. A test compares the file with them, and fails for a bound that nothing crosses. How long
something is waited for, and how much of a thing is shown, is not listed.

"""
CONTRACTS, CODE, SETTINGS = "Contracts", "Code and thresholds", "Settings"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A test, and the bounds that it says it crosses."""

    file: Path
    test: str
    crosses: tuple[str, ...]

    def __str__(self) -> str:
        """A link, as seen from the document."""
        return f"[{self.test}](../{self.file.relative_to(locate_root()).as_posix()})"


@cache
def list_crossings() -> tuple[Crossing, ...]:
    """Every test that is marked, in the order of the files."""
    return tuple(
        one
        for file in sorted((locate_root() / "tests").rglob("test_*.py"))
        for one in find_crossings(file)
    )


def find_crossings(file: Path) -> Iterator[Crossing]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and (names := tuple(_list_marks(node))):
            yield Crossing(file, node.name, names)


def _list_marks(test: ast.FunctionDef) -> Iterator[str]:
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == MARK:
            for each in decorator.args:
                if not isinstance(each, ast.Constant):
                    raise TypeError(f"{test.name}: {MARK} takes names, {ast.unparse(each)} is none")
                yield str(each.value)


def select_crossings(bound: Bound) -> list[Crossing]:
    """The tests that cross a bound."""
    return [
        one
        for one in list_crossings()
        if any(fnmatchcase(bound.name, name) for name in one.crosses)
    ]


def find_reason(bound: Bound) -> str | None:
    """Why no test crosses a bound; None where that has no reason."""
    found = (why for name, why in NOT_CROSSED.items() if fnmatchcase(bound.name, name))
    return next(found, None)


class CrossingsOfRun:
    """A plugin of pytest that says at the end of a run of all tests which bounds it did not cross.

    The run fails then.
    """

    def __init__(self) -> None:
        self._passed: set[str] = set()
        self._left_out: set[str] = set()
        self._missing: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test, _, _ = report.nodeid.partition("[")
        if report.skipped or report.failed:
            self._left_out.add(test)
        elif report.when == "call":
            self._passed.add(test)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if ended and is_of_all(session.config):
            self._missing = find_missing(self._passed - self._left_out)
            if self._missing:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in self._missing:
            line = f"No test that passed has crossed {name}: see docs/{DOCUMENT.name}"
            terminalreporter.write_line(line, red=True)


def is_of_all(config: pytest.Config) -> bool:
    """Whether a run is of all tests but those in containers."""
    asked = config.option
    return (
        config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and asked.markexpr in ("", "not docker")
        and not (asked.keyword or asked.deselect or asked.lf or asked.collectonly)
    )


def find_missing(passed: Collection[str]) -> list[str]:
    """The bounds of which no test is among these, which are named as pytest names them."""
    found = {(file, names[-1]) for file, *names in (one.split("::") for one in passed)}
    return [
        bound.name
        for bound in list_bounds()
        if (tests := select_crossings(bound))
        and not any(
            (one.file.relative_to(locate_root()).as_posix(), one.test) in found for one in tests
        )
    ]


def render_document() -> str:
    """The text of docs/bounds.md."""
    parts = [INTRODUCTION]
    for title, some in _group_bounds().items():
        rows = _render_contracts(some) if title == CONTRACTS else _render_each(some)
        head = "| contract | bounds | crossed by |" if title == CONTRACTS else HEAD
        parts += [f"## {title}\n\n{head}\n|---|---|---|{'' if title == CONTRACTS else '---|'}\n"]
        parts += [f"{row}\n" for row in rows] + ["\n"]
    return "".join(parts).rstrip() + "\n"


HEAD = "| bound | is | meaning | crossed by |"


def _group_bounds() -> Mapping[str, list[Bound]]:
    found: dict[str, list[Bound]] = {CONTRACTS: [], CODE: [], SETTINGS: []}
    for one in list_bounds():
        is_code = "/" in one.home
        found[SETTINGS if one.home == "settings" else CODE if is_code else CONTRACTS].append(one)
    return found


def _render_contracts(some: Iterable[Bound]) -> Iterator[str]:
    """A row per contract."""
    by_contract: dict[str, list[Bound]] = defaultdict(list)
    for one in some:
        by_contract[one.home].append(one)
    for contract, own in by_contract.items():
        tests = dict.fromkeys(str(test) for one in own for test in select_crossings(one))
        says = "; ".join(one.says for one in own).replace("|", "\\|")
        yield f"| `{contract}` | {says} | {', '.join(tests)} |"


def _render_each(some: Iterable[Bound]) -> Iterator[str]:
    for one in some:
        tests = ", ".join(map(str, select_crossings(one))) or f"none: {find_reason(one)}"
        yield f"| {one.name} | {one.says} | {one.meaning} | {tests} |".replace("||", "| |")


if __name__ == "__main__":
    DOCUMENT.write_text(render_document(), encoding="utf-8")
