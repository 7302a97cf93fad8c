"""Compares the served views with other code's answer, on the same part of the log."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contracts import CONTRACTS, HEARTBEATS
from infra.kafka import Partition
from infra.settings import Settings
from ops.generations.snapshot import ROOMS
from ops.replay.difference import Comparison, Difference, render_json_lines, render_parquet
from ops.replay.thresholds import find_numbers
from ops.verify.served import open_export, parse_inputs, take_rows
from pipelines.common.pipeline import Pipeline
from pipelines.engine.archive import find_truncated, read_archive_ends
from pipelines.engine.bounded import Span

SPILL = "spill"
"""The scratch folder where the engine keeps data that does not fit in memory."""

FILES_MAX = 20
"""The number of files that are named; a larger change is another version."""


@dataclass(frozen=True)
class Setting:
    """A threshold, before and after; None: it does not exist, or is no whole number."""

    name: str
    before: int | None
    after: int | None

    def __str__(self) -> str:
        before, after = (
            "none" if value is None else f"{value:,}" for value in (self.before, self.after)
        )
        return f"{self.name} {before} → {after}"


@dataclass(frozen=True)
class Changes:
    """The differences between two copies of a pipeline's code."""

    thresholds: tuple[Setting, ...] = ()
    files: tuple[str, ...] = ()
    """Paths from the repository's root, at most FILES_MAX."""


@dataclass(frozen=True)
class Compared:
    """The differences of all views of a pipeline, with both sides of the comparison."""

    pipeline: str
    before: str
    """The generation whose rows are the reference."""
    after: str
    """The other side of the comparison: a generation, or the code on disk."""
    position: str
    """The position in the log that both have reached, in words."""
    records: int
    """The number of records before that position."""
    views: tuple[Difference, ...]
    changes: Changes | None = None
    """The differences between the codes; None: unknown."""

    @property
    def empty(self) -> bool:
        return all(view.empty for view in self.views)


RunBatch = Callable[[Span, Path], Mapping[str, Path]]
"""Writes each view's rows over a part of the log below a folder: view → Parquet."""


def fetch_served(settings: Settings, pipeline: str, folder: Path) -> Mapping[str, Any]:
    """Fetch all views of a pipeline from the API into a file each, at one marker.

    Returns the head of the export. Raises ApiDown.
    """
    with open_export(settings, pipeline) as (head, lines):
        for each in head["views"]:
            with (folder / each["view"]).open("wb") as kept:
                kept.writelines(take_rows(lines, each))
    return head


def compare_at_marker(
    settings: Settings, pipeline: Pipeline, run: RunBatch, promoted: Path, code: Path, name: str
) -> Compared:
    """Compare a batch of some code with the served views, at the served generation's marker.

    `promoted` is the code of the served generation; `code` is the other one, called `name` in the
    difference. Raises ApiDown, OtherLog, and UserError.
    """
    parent = settings.data_dir / "replays"
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="at-", dir=parent) as scratch:
        folder = Path(scratch)
        head = fetch_served(settings, pipeline.name, folder)
        span = build_span(settings, pipeline, parse_inputs(head["marker"]))
        rows = run(span, folder / "after")
        views = []
        for each in head["views"]:
            contract = CONTRACTS[each["view"]]
            sides = (
                render_json_lines(contract, folder / contract.name),
                render_parquet(rows[contract.name]),
            )
            since = each["oldest_kept"]  # None: all rows are kept
            views.append(Comparison(contract, *sides, since, folder / SPILL).compute())
    return Compared(
        pipeline=pipeline.name,
        before=f"generation {head['generation']}",
        after=name,
        position=f"marker {head['marker']['batch']:,}",
        records=span.records,
        views=tuple(views),
        changes=find_changes(promoted, code, pipeline.name),
    )


def build_span(settings: Settings, pipeline: Pipeline, inputs: Mapping[Partition, int]) -> Span:
    """The log up to these offsets, with the archive for records that it no longer has.

    Without the heartbeats: they only advance time. Raises UserError.
    """
    topics = {topic.name for topic in pipeline.inputs if topic is not HEARTBEATS}
    ends = {partition: end for partition, end in inputs.items() if partition[0] in topics}
    missing = find_truncated(settings, topics)
    return Span.of({}, ends, read_archive_ends(settings, topics) if missing else {})


def find_changes(before: Path, after: Path, pipeline: str) -> Changes | None:
    """The differences between two copies of the code, in files that this pipeline may run.

    None if one of them is not on this machine.
    """
    if not (before.is_dir() and after.is_dir()):
        return None
    names = {*_list_files(before, pipeline), *_list_files(after, pipeline)}
    files = sorted(name for name in names if _read(before / name) != _read(after / name))
    return Changes(
        thresholds=tuple(_compare_thresholds(before, after, pipeline)),
        files=tuple(files[:FILES_MAX]),
    )


def _compare_thresholds(before: Path, after: Path, pipeline: str) -> Iterator[Setting]:
    file = Path("pipelines", pipeline, "thresholds.py")
    old, new = (find_numbers((_read(code / file) or b"").decode()) for code in (before, after))
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield Setting(name, old.get(name), new.get(name))


def _list_files(code: Path, pipeline: str) -> Iterator[str]:
    """The modules and contracts, without those of other pipelines."""
    mine = {"common", "engine", pipeline}
    for room in ROOMS:
        for file in (code / room).rglob("*"):
            name = file.relative_to(code)
            own = room != "pipelines" or len(name.parts) == 2 or name.parts[1] in mine
            if file.suffix in {".py", ".yaml", ".sql"} and own:
                yield name.as_posix()


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None
