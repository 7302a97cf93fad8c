"""Compares the served views with other code's answer, on the same part of the log."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts import CONTRACTS, HEARTBEATS
from infra.kafka import Offsets, Partition, create_admin, find_offsets_at
from infra.settings import Settings
from ops.generations.folders import locate_code
from ops.generations.record import Generation
from ops.replay import batch
from ops.replay.causes import Changes, explain, find_changes
from ops.replay.difference import Comparison, Difference, render_json_lines, render_parquet
from ops.verify.served import open_export, parse_inputs, take_rows
from pipelines.common.pipeline import Pipeline
from pipelines.engine.archive import find_truncated, read_archive_ends
from pipelines.engine.bounded import Span

SPILL = "spill"
"""The folder in the workplace where the engine keeps data that does not fit in memory."""


@dataclass(frozen=True)
class Compared:
    """The differences of all views of a pipeline, with both sides of the comparison."""

    pipeline: str
    before: str
    """The generation whose rows are the reference."""
    after: str
    """The other side of the comparison: a generation, or the code on disk."""
    at: str
    """The position in the log that both have reached, in words."""
    records: int
    """The number of records before that position."""
    views: tuple[Difference, ...]
    changes: Changes | None = None
    """The differences between the codes; None: unknown."""

    @property
    def empty(self) -> bool:
        return all(view.empty for view in self.views)

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        changes = None if self.changes is None else self.changes.to_document()
        return {**asdict(self), "changes": changes, "empty": self.empty}


@dataclass(frozen=True)
class Code:
    """A copy of the code to compare with the promoted generation's."""

    folder: Path
    name: str
    """Its name in the difference."""


@dataclass(frozen=True)
class Served:
    """The views of the served generation, whole, at one marker, as files of JSON lines."""

    generation: int
    batch: int
    inputs: dict[Partition, int]
    oldest_kept: dict[str, str | None]
    """View → the start of its oldest kept rows; None: all rows are kept."""
    files: dict[str, Path]
    """View → its rows."""


RunBatch = Callable[[Span, Path], Mapping[str, Path]]
"""Writes each view's rows over a part of the log below a folder: view → Parquet."""


def fetch_served(settings: Settings, pipeline: str, folder: Path) -> Served:
    """Fetch all views of a pipeline from the API into files, at one marker. Raises ApiDown."""
    with open_export(settings, pipeline) as (head, lines):
        files = {}
        for each in head["views"]:
            files[each["view"]] = folder / f"{each['view']}.ndjson"
            with files[each["view"]].open("wb") as kept:
                kept.writelines(take_rows(lines, each))
    return Served(
        generation=head["generation"],
        batch=head["marker"]["batch"],
        inputs=parse_inputs(head["marker"]),
        oldest_kept={each["view"]: each["oldest_kept"] for each in head["views"]},
        files=files,
    )


def compare_at_marker(
    settings: Settings, pipeline: Pipeline, run: RunBatch, codes: tuple[Path, Code], folder: Path
) -> Compared:
    """Compare a batch of some code with the served views, at the served generation's marker.

    `codes`: the code of the served generation, then the other one.
    """
    seen = fetch_served(settings, pipeline.name, folder)
    ends = select_ends(pipeline, seen.inputs)
    rows = run(to_span(settings, pipeline, {}, ends), folder / "after")
    relations = {name: render_parquet(rows[name]) for name in seen.files}
    return compare_served(pipeline, seen, relations, codes, folder)


def compare_served(
    pipeline: Pipeline,
    seen: Served,
    relations: Mapping[str, str],
    codes: tuple[Path, Code],
    folder: Path,
) -> Compared:
    """Compare what was served with the other answer at that marker: view → relation."""
    promoted, after = codes
    views = []
    for name, file in seen.files.items():
        contract = CONTRACTS[name]
        sides = render_json_lines(contract, file), relations[name]
        kept = seen.oldest_kept[name], None
        views.append(Comparison(contract, *sides, kept, folder / SPILL).compute())
    changes = find_changes(promoted, after.folder, pipeline.name)
    return Compared(
        pipeline=pipeline.name,
        before=f"generation {seen.generation}",
        after=after.name,
        at=f"marker {seen.batch:,}",
        records=sum(select_ends(pipeline, seen.inputs).values()),
        views=tuple(explain(view, changes) for view in views),
        changes=changes,
    )


@dataclass(frozen=True)
class Times:
    """A span of world time; None: from the log's beginning, to its end."""

    start: datetime | None
    end: datetime | None


def compare_between(
    settings: Settings,
    pipeline: Pipeline,
    promoted: Generation,
    after: Code,
    times: Times,
    folder: Path,
) -> Compared:
    """Compare the code with the promoted generation's code, both over the same part of the log.

    If the part begins at a time, it reads from one horizon earlier, to know duplicates, and
    compares only the rows that begin at that time or later.
    """
    span = find_span(settings, pipeline, times)
    before = locate_code(settings, promoted)
    runs = [
        batch.run(settings, pipeline.name, copy, span, folder / name)
        for name, copy in (("before", before), ("after", after.folder))
    ]
    kept = times.start.isoformat() if times.start else None
    views = []
    for contract in pipeline.writes:
        old, new = (render_parquet(rows[contract.name]) for rows in runs)
        views.append(Comparison(contract, old, new, (kept, None), folder / SPILL).compute())
    changes = find_changes(before, after.folder, pipeline.name)
    return Compared(
        pipeline=pipeline.name,
        before=f"generation {promoted.number}'s code",
        after=after.name,
        at=times.end.isoformat() if times.end else "the end of the log",
        records=span.records,
        views=tuple(explain(view, changes) for view in views),
        changes=changes,
    )


def find_span(settings: Settings, pipeline: Pipeline, times: Times) -> Span:
    """The offsets of a span of time, by the records' timestamps in world time."""
    client, topics = create_admin(settings), select_counted(pipeline)
    ends = find_offsets_at(client, topics, to_ms(times.end) if times.end else END_OF_TIME_MS)
    if times.start is None:
        return to_span(settings, pipeline, {}, ends)
    horizon = max(topic.horizon for topic in pipeline.reads if topic.horizon)
    starts = find_offsets_at(client, topics, to_ms(times.start - horizon))
    begin = {at: min(start, ends[at]) for at, start in starts.items()}
    return to_span(settings, pipeline, begin, ends)


def to_span(
    settings: Settings,
    pipeline: Pipeline,
    starts: Offsets,
    ends: Offsets,
) -> Span:
    """This part of the log, with the archive for records that the log no longer has.

    Raises Gap, OtherLog.
    """
    topics = select_counted(pipeline)
    missing = find_truncated(settings, topics, starts)
    return Span.of(starts, ends, read_archive_ends(settings, topics) if missing else {})


END_OF_TIME_MS = 253_402_300_799_000
"""The last second of the year 9999; no record has a later timestamp."""


def to_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def select_ends(pipeline: Pipeline, inputs: Offsets) -> Offsets:
    """A marker's offsets of the topics whose records count."""
    counted = select_counted(pipeline)
    return {at: end for at, end in inputs.items() if at[0] in counted}


def select_counted(pipeline: Pipeline) -> set[str]:
    """The topics whose records count. Heartbeats do not: they only advance time."""
    return {topic.name for topic in pipeline.inputs if topic is not HEARTBEATS}
