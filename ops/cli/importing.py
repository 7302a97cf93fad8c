"""retail import: the sales of a retailer's own files, into a world of their own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer

from contracts.times import to_epoch_ms, to_instant
from generators.importing.drafting import propose_mapping
from generators.importing.mapping import read_mapping
from generators.importing.publishing import Imported, Watch
from generators.importing.session import run_import
from infra.errors import UserError
from infra.kafka import NotDelivered
from infra.reports import locate_reports
from infra.settings import Settings, read_settings
from ops.cli import screen


def import_command(
    files: Annotated[list[Path], typer.Argument(help="CSV, Parquet, JSON lines; folders.")],
    mapping: Annotated[
        Path | None, typer.Option("--map", help="The mapping of columns to fields: a YAML file.")
    ] = None,
    as_draft: Annotated[
        bool, typer.Option("--draft", help="Write a first mapping for the file, and stop.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Publish nothing; print what would be published.")
    ] = False,
    until: Annotated[
        str | None, typer.Option(help="Afterwards, advance the world's time to this day.")
    ] = None,
) -> None:
    """Publish the sales of files in the order in which they happened; the world's time follows.

    The same files again change nothing, and after a kill the same command continues.
    """
    if as_draft:
        print(propose_mapping(files[0]), end="")
        return
    if mapping is None:
        raise UserError(
            "--map should name a mapping. Write a first one: retail import --draft FILE > "
            "mapping.yaml · ready ones are in generators/importing/mappings"
        )
    settings, wanted = read_settings(), read_mapping(mapping)
    end_ms = to_epoch_ms(parse_day(until)) if until else None
    name = f"import-{mapping.stem}"
    with report_refusals(settings, name) as report, screen.show_waiting("import", "") as wait:
        watch = Watch(
            step=lambda text: wait.show("import", text),
            progress=lambda progress: wait.show("import", render_progress(progress)),
            refused=lambda row: print(json.dumps(asdict(row), ensure_ascii=False), file=report),
        )
        try:
            imported = run_import(settings, wanted, files, watch, dry=dry_run, until_ms=end_ms)
        except NotDelivered as error:
            raise UserError(f"{error}. The same command goes on where this one stopped.") from error
    show(imported, Path(report.name), dry=dry_run)
    if imported.refused:
        raise typer.Exit(1)


def parse_day(given: str) -> datetime:
    """The instant in UTC; a day without a time begins at midnight, in UTC. Raises UserError."""
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        raise UserError(
            "--until: expected a day or a time, as 2026-03-02 or 2026-03-02T10:00:00Z; "
            f"found {given}."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def report_refusals(settings: Settings, name: str) -> Iterator[TextIO]:
    """The report of this name, emptied; without a refusal there is no file."""
    file = locate_reports(settings) / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as report:
        try:
            yield report
        finally:
            if not report.tell():
                file.unlink()


def render_progress(imported: Imported) -> str:
    refused = imported.refused.total()
    return f"{render_time(imported.at_ms)} · {imported.events:,} events, {refused:,} refused"


def render_time(world_ms: int) -> str:
    return f"{to_instant(world_ms):%Y-%m-%d %H:%M}"


def show(imported: Imported, report: Path, *, dry: bool) -> None:
    verb = "would be published" if dry else "published"
    screen.say(
        f"  {imported.rows:,} rows · {imported.published.total():,} events {verb}"
        f" · {imported.in_log:,} in the log already · {imported.refused.total():,} refused"
    )
    for topic, count in sorted(imported.published.items()):
        screen.say(f"  {count:>11,}  {topic}")
    if imported.late:
        screen.say(f"  {imported.late:,} of them happened before the world's time: they come late")
    screen.say(f"  the world's time {'would be' if dry else 'is'} {render_time(imported.at_ms)}")
    if not imported.refused:
        return
    screen.say(f"  refused, all in {screen.shorten(report)}")
    for reason, count in imported.refused.most_common():
        places = ", ".join(f"{refusal.file}:{refusal.row}" for refusal in imported.examples[reason])
        screen.say(f"  {count:>11,}  {reason}   {screen.cut(places, 80)}")
