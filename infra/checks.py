"""The results of the lake's checks, as files in the folder of reports: the newest of each table,
and their history. The checks write them; the API and `retail status` read them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from infra.lake import ByTopic
from infra.security import files

NEWEST, HISTORY = "newest.json", "history.jsonl"
HISTORY_LINES_MAX = 20_000
"""About half a day's: a check of a whole lake has some 150 expectations."""
EVIDENCE_ROWS_MAX = 5
"""The rows that a result keeps of those that an expectation did not expect."""


@dataclass(frozen=True)
class Outcome:
    """What came of one expectation of a table."""

    suite: str
    expectation: str
    success: bool
    unexpected: int = 0
    """The number of rows that are not as expected."""
    rows: tuple[Mapping[str, Any], ...] = ()
    """The first of them, as JSON."""


@dataclass(frozen=True)
class Result:
    """The newest check of a table, of what it has of the log up to `ends`.

    `starts`: the offsets at which this check began, or the first one that found what still fails.
    """

    table: str
    version: int = -1
    checked_ms: int = 0
    """Wall time."""
    records: int = 0
    """The number of offsets that it covers; of a view, of rows."""
    outcomes: tuple[Outcome, ...] = ()
    starts: ByTopic = field(default_factory=dict)
    ends: ByTopic = field(default_factory=dict)
    trouble: str = ""
    """Why the check could not run; the rest is then of the one before."""

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if not outcome.success)


@dataclass(frozen=True)
class Checked:
    """The newest results, by table."""

    ran_ms: int = 0
    """Wall time at which the newest checks ended; 0: there were none."""
    trouble: str = ""
    """Why the newest checks could not run at all."""
    tables: Mapping[str, Result] = field(default_factory=dict)


CHECKED = TypeAdapter(Checked)


def locate_quality(reports: Path) -> Path:
    """The folder of the checks' results, and of their pages: begin at `index.html`."""
    return reports / "quality"


def read_checked(folder: Path) -> Checked:
    """The newest results; none where there are none yet, or of another form."""
    try:
        return CHECKED.validate_json((folder / NEWEST).read_bytes())
    except FileNotFoundError:
        return Checked()
    except ValueError as error:
        return Checked(trouble=f"{folder / NEWEST} cannot be read: {error}")


def write_checked(folder: Path, checked: Checked, new: Iterable[Result]) -> None:
    """Replace the newest results, and append the new ones to the history."""
    folder.mkdir(parents=True, exist_ok=True)
    files.replace(folder / NEWEST, CHECKED.dump_json(checked).decode())
    file = folder / HISTORY
    before = file.read_text().splitlines() if file.exists() else []
    added = [json.dumps(row) for result in new for row in list_history(result)]
    if added:
        kept = [*before, *added][-HISTORY_LINES_MAX:]
        files.replace(file, "".join(f"{line}\n" for line in kept))


def write_trouble(folder: Path, trouble: str, now_ms: int) -> None:
    """Note that checks could not run; the results stay."""
    write_checked(folder, replace(read_checked(folder), ran_ms=now_ms, trouble=trouble), ())


def list_history(result: Result) -> Iterator[dict[str, Any]]:
    """A row per expectation; or one that says why the check could not run."""
    of_table = {"checked_ms": result.checked_ms, "table": result.table, "version": result.version}
    if result.trouble:
        yield {**of_table, "trouble": result.trouble}
        return
    for outcome in result.outcomes:
        yield {**of_table, **asdict(outcome)}
