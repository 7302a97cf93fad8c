"""retail verify: the served views compared with an independent computation and the ledger."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from contracts import Contract
from infra.errors import UserError
from infra.kafka import Partition
from infra.reports import locate_reports
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.cli.options import AsJson
from ops.verify.inventory import Book, Row
from ops.verify.ledger import Audit
from ops.verify.verdict import Comparison, Verdict, reach_verdict

DIGEST_SHOWN = 12
DIRT_PER_LINE = 4
ROWS_SHOWN_MAX = 20
TEXT_WIDTH = 60
FIELD_WIDTH = 24


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
            if any(one.differing for one in outcome.views):
                file = write_differences(settings, name, outcome.views)
                screen.say(f"  all rows that differ: {screen.shorten(file)}")
    if as_json:
        print(json.dumps({"exact": all(exact.values()), "pipelines": documents}))
    if not all(exact.values()):
        raise typer.Exit(1)


def show(outcome: Verdict) -> None:
    live = outcome.live
    screen.say(
        f"  {live.pipeline} g{live.generation} at marker {live.batch:,}"
        f" · {sum_books(outcome.books).read:,} records"
    )
    for one in outcome.views:
        show_view(one)
    if outcome.audit is not None:
        show_ledger(outcome.audit)
    show_books(outcome)
    show_quarantine(outcome)
    screen.say(f"  {conclude(outcome)}")


def conclude(outcome: Verdict) -> str:
    if outcome.exact:
        return "exact"
    if outcome.agree:
        paged = outcome.audit is None or outcome.audit.made
        why = "the quarantine has caught up" if paged else "the ledger has a page"
        return f"NOT AUDITED: what was compared agrees; try again when {why}"
    return "NOT EXACT"


def show_view(one: Comparison) -> None:
    sign = "=" if one.live_digest == one.oracle_digest else "≠"
    screen.say(
        f"  {one.view.entity:<13} {one.rows:>11,} rows"
        f"   live {one.live_digest[:DIGEST_SHOWN]}…  {sign}  "
        f"oracle {one.oracle_digest[:DIGEST_SHOWN]}…"
    )
    for line in render_differences(one):
        screen.say(line)


def render_differences(one: Comparison) -> Iterator[str]:
    """The first differing rows, a line for each field."""
    for live, oracle in one.differing[:ROWS_SHOWN_MAX]:
        yield f"    {render_key(one.view, live or oracle or {})}"
        if live is None or oracle is None:
            yield f"      only {'the oracle has it' if live is None else 'live has it'}"
            continue
        for name in live.keys() | oracle.keys():
            if live.get(name) != oracle.get(name):
                values = (
                    f"live {render_text(live.get(name))}   oracle {render_text(oracle.get(name))}"
                )
                yield f"      {name:<{FIELD_WIDTH}} {values}"
    if (more := len(one.differing) - ROWS_SHOWN_MAX) > 0:
        yield f"    and {more:,} more rows"


def write_differences(settings: Settings, pipeline: str, views: tuple[Comparison, ...]) -> Path:
    """Write every differing row of these views to a file of JSON lines, and return its path."""
    file = locate_reports(settings) / f"verify-{pipeline}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lines:
        for one in views:
            for live, oracle in one.differing:
                row = {"view": one.view.name, "live": live, "oracle": oracle}
                lines.write(json.dumps(row, default=str, ensure_ascii=False) + "\n")
    return file


def render_key(view: Contract, row: Row) -> str:
    return "/".join(render_text(row[name]) for name in view.key)


def render_text(value: Any) -> str:
    """The value on one line, shortened where it is long."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, list | dict):
        value = json.dumps(value, default=str, ensure_ascii=False)
    return screen.cut(str(value), TEXT_WIDTH)


def show_ledger(audit: Audit) -> None:
    if not audit.pages:
        screen.say("  ledger     no page before the marker: nothing to compare with")
        return
    agree = audit.shelves - len(audit.differences)
    screen.say(
        f"  ledger     {agree:,} of {audit.shelves:,} shelves as booked on {audit.pages:,} pages,"
        f" minus {audit.quarantined:,} quarantined"
    )
    for one in audit.differences[:DIGEST_SHOWN]:
        screen.say(f"    {'/'.join(one.shelf)}: ledger {one.ledger}, log {one.log}")
    dirt = [f"{kind.replace('_', ' ')} {count:,}" for kind, count in audit.dirt.items()]
    screen.say(f"  dirt       {' · '.join(dirt[:DIRT_PER_LINE])}")
    screen.say(f"             {' · '.join(dirt[DIRT_PER_LINE:])}")
    for what, (ledger, log) in audit.seen.items():
        if ledger != log:
            screen.say(f"    {what}: ledger {ledger:,} records, log {log:,}")


def show_books(outcome: Verdict) -> None:
    books = sum_books(outcome.books)
    screen.say(
        f"  books      read {books.read:,} = applied {books.applied:,}"
        f" + duplicate {books.duplicate:,} + quarantined {books.quarantined:,}"
    )
    for at, book in outcome.books.items():
        if outcome.live.books.get(at) != book:
            screen.say(f"    {at[0]}/{at[1]}: live {outcome.live.books.get(at)}, oracle {book}")


def show_quarantine(outcome: Verdict) -> None:
    listing = outcome.listing
    behind = f", {listing.behind:,} records not validated yet" if listing.behind else ""
    screen.say(
        f"  quarantine {listing.listed:,} of {listing.rejected:,} rejected records listed{behind}"
    )
    for one in listing.differences:
        screen.say(f"    {one}")


def sum_books(books: Mapping[Partition, Book]) -> Book:
    return Book(
        read=sum(book.read for book in books.values()),
        applied=sum(book.applied for book in books.values()),
        duplicate=sum(book.duplicate for book in books.values()),
        quarantined=sum(book.quarantined for book in books.values()),
    )


def build_document(outcome: Verdict) -> dict[str, object]:
    ledger = {} if outcome.audit is None else {"ledger": build_audit(outcome.audit)}
    return {
        "exact": outcome.exact,
        "generation": outcome.live.generation,
        "marker": outcome.live.batch,
        "views": {one.view.name: build_view(one) for one in outcome.views},
        "books": asdict(sum_books(outcome.books)),
        "quarantine": {
            "rejected": outcome.listing.rejected,
            "listed": outcome.listing.listed,
            "differences": len(outcome.listing.differences),
            "behind": outcome.listing.behind,
        },
        **ledger,
    }


def build_view(one: Comparison) -> dict[str, object]:
    return {
        "rows": one.rows,
        "live_digest": one.live_digest,
        "oracle_digest": one.oracle_digest,
    }


def build_audit(audit: Audit) -> dict[str, object]:
    return {
        "audited": audit.made,
        "pages": audit.pages,
        "shelves": audit.shelves,
        "quarantined": audit.quarantined,
        **audit.dirt,
        "differences": len(audit.differences),
        "seen": {what: {"ledger": a, "log": b} for what, (a, b) in audit.seen.items()},
    }
