"""retail verify: the served views compared with an independent computation and the ledger."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from infra.kafka import Partition
from infra.settings import read_settings
from ops.cli import differences, screen
from ops.verify.inventory import Book
from ops.verify.ledger import Audit
from ops.verify.verdict import Comparison, Verdict, reach_verdict

DIGEST_SHOWN = 12
DIRT_PER_LINE = 4


def verify(
    pipeline: Annotated[
        str | None, typer.Argument(help="One pipeline. Default: all that run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Compare the served views with the oracles and the ledger, each pipeline at one marker."""
    settings = read_settings()
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
                file = differences.write(settings, name, outcome.views)
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
    for line in differences.render(one):
        screen.say(line)


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
