"""retail verify: the served views compared with an independent computation and the ledger."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import UserError
from infra.kafka import Partition
from infra.reports import locate_reports
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.options import AsJson
from ops.verify.comparison import Comparison
from ops.verify.inventory import Book
from ops.verify.lake import TableCheck
from ops.verify.ledger import Audit
from ops.verify.verdict import Verdict, reach_verdict

DIGEST_SHOWN = 12
DIRT_PER_LINE = 4


def verify(
    pipeline: Annotated[
        str | None, typer.Argument(help="One pipeline. Default: all that run.")
    ] = None,
    lake: Annotated[
        bool, typer.Option("--lake", help="Check the lake's tables against their contracts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the served views with the oracles and the ledger, each pipeline at one marker.

    With --lake the lake is compared instead: with its contracts, the log's offsets and a view.
    """
    settings = read_settings()
    if lake and pipeline:
        raise UserError("--lake compares all of the lake: leave the pipeline out")
    if lake:
        from ops.cli.quality import check_lake  # here: others need not wait for it

        check_lake(settings, as_json)
        return
    exact = {}
    documents = {}
    for name in (pipeline,) if pipeline else settings.pipeline_names:
        with screen.show_waiting("verify", f"{name}: reading the log again, outside Spark"):
            outcome = reach_verdict(settings, name)
        exact[name] = outcome.exact
        if as_json:
            documents[name] = build_document(outcome)
        else:
            show(outcome)
            compared = (
                *outcome.views,
                *(table.comparison for table in outcome.tables if table.comparison),
            )
            if any(comparison.differing for comparison in compared):
                file = write_differences(settings, name, compared)
                screen.say(f"  all rows that differ: {screen.shorten(file)}")
    if as_json:
        print(json.dumps({"exact": all(exact.values()), "pipelines": documents}))
    if not all(exact.values()):
        raise typer.Exit(1)


def show(outcome: Verdict) -> None:
    live, books, listing = outcome.live, sum_books(outcome.books), outcome.listing
    screen.say(
        f"  {live.pipeline} g{live.generation} at marker {live.batch:,} · {books.read:,} records"
    )
    for comparison in outcome.views:
        sign = "=" if comparison.live_digest == comparison.oracle_digest else "≠"
        screen.say(
            f"  {comparison.view.entity:<13} {comparison.rows:>11,} rows"
            f"   live {comparison.live_digest[:DIGEST_SHOWN]}…  {sign}  "
            f"oracle {comparison.oracle_digest[:DIGEST_SHOWN]}…"
        )
    for table in outcome.tables:
        show_table(table)
    if outcome.audit is not None and outcome.audit.pages:
        show_ledger(outcome.audit)
    screen.say(
        f"  books      read {books.read:,} = applied {books.applied:,}"
        f" + duplicate {books.duplicate:,} + quarantined {books.quarantined:,}"
    )
    screen.say(f"  quarantine {listing.listed:,} of {listing.rejected:,} rejected records listed")
    for line in outcome.list_deviations():
        screen.say(f"    {line}")
    if outcome.exact:
        screen.say("  exact")
    elif outcome.agree:
        screen.say("  NOT AUDITED: what was compared agrees; try again in a minute")
    else:
        screen.say("  NOT EXACT")


def show_table(table: TableCheck) -> None:
    if (compared := table.comparison) is not None:
        sign = "=" if compared.live_digest == compared.oracle_digest else "≠"
        screen.say(
            f"  {table.name:<13} {compared.rows:>11,} rows"
            f"  table {compared.live_digest[:DIGEST_SHOWN]}…  {sign}  "
            f"view   {compared.oracle_digest[:DIGEST_SHOWN]}… at marker {table.marker:,}"
        )


def show_ledger(audit: Audit) -> None:
    agree = audit.shelves - len(audit.differences)
    screen.say(
        f"  ledger     {agree:,} of {audit.shelves:,} shelves as booked on {audit.pages:,} pages,"
        f" minus {audit.quarantined:,} quarantined"
    )
    dirt = [f"{kind.replace('_', ' ')} {count:,}" for kind, count in audit.dirt.items()]
    screen.say(f"  dirt       {' · '.join(dirt[:DIRT_PER_LINE])}")
    screen.say(f"             {' · '.join(dirt[DIRT_PER_LINE:])}")


def write_differences(settings: Settings, pipeline: str, views: tuple[Comparison, ...]) -> Path:
    """Write every differing row of these views to a file of JSON lines, and return its path."""
    file = locate_reports(settings) / f"verify-{pipeline}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lines:
        for comparison in views:
            for live, oracle in comparison.differing:
                row = {"view": comparison.view.name, "live": live, "oracle": oracle}
                lines.write(json.dumps(row, default=str, ensure_ascii=False) + "\n")
    return file


def sum_books(books: Mapping[Partition, Book]) -> Book:
    return Book(
        read=sum(book.read for book in books.values()),
        applied=sum(book.applied for book in books.values()),
        duplicate=sum(book.duplicate for book in books.values()),
        quarantined=sum(book.quarantined for book in books.values()),
    )


def build_document(outcome: Verdict) -> dict[str, object]:
    document: dict[str, object] = {
        "exact": outcome.exact,
        "generation": outcome.live.generation,
        "marker": outcome.live.batch,
        "views": {comparison.view.name: {"rows": comparison.rows} for comparison in outcome.views},
        "tables": {
            table.name: {"version": table.version, "compared": table.comparison is not None}
            for table in outcome.tables
        },
        "books": asdict(sum_books(outcome.books)),
        "quarantine": {"rejected": outcome.listing.rejected, "listed": outcome.listing.listed},
        "deviations": list(outcome.list_deviations()),
    }
    if (audit := outcome.audit) is not None:
        document["ledger"] = {"quarantined": audit.quarantined, **audit.dirt}
    return document
