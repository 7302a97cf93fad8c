"""retail verify: the live view against an independent computation and the sealed ledger."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from infra.cli import screen
from infra.settings import settings
from tests.oracle.inventory import Book
from tests.oracle.verdict import Verdict, verdict

DIGEST_SHOWN = 12
DIRT_PER_LINE = 4

app = typer.Typer(no_args_is_help=True, help="Prove that a view is exact.")


@app.callback()
def group() -> None:
    """Keep `inventory` a command of its own: more pipelines will stand beside it."""


@app.command()
def inventory(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Compare stock as it is served with the oracle and the ledger, at one marker."""
    with screen.waiting("verify", "reading the log once more, outside Spark"):
        found = verdict(settings())
    if as_json:
        print(json.dumps(as_document(found)))
    else:
        show(found)
    if not found.exact:
        raise typer.Exit(1)


def show(found: Verdict) -> None:
    live, books = found.live, total(found.books)
    screen.say(
        f"  inventory g{live.generation} at marker {live.batch:,} · {books.read:,} records"
        f" · {len(live.rows):,} shelves"
    )
    sign = "=" if found.live_digest == found.oracle_digest else "≠"
    screen.say(
        f"  live view  {found.live_digest[:DIGEST_SHOWN]}…  {sign}  "
        f"oracle {found.oracle_digest[:DIGEST_SHOWN]}…"
    )
    for live_row, oracle_row in found.differing:
        screen.say(f"    live {live_row}\n    oracle {oracle_row}")
    show_ledger(found)
    show_books(found)
    show_quarantine(found)
    screen.say(f"  {conclusion(found)}")


def conclusion(found: Verdict) -> str:
    if found.exact:
        return "exact"
    if found.agree:
        why = "the ledger has a page" if not found.audit.made else "the quarantine has caught up"
        return f"NOT AUDITED: what was compared agrees; try again when {why}"
    return "NOT EXACT"


def show_ledger(found: Verdict) -> None:
    audit = found.audit
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


def show_books(found: Verdict) -> None:
    books = total(found.books)
    screen.say(
        f"  books      read {books.read:,} = applied {books.applied:,}"
        f" + duplicate {books.duplicate:,} + quarantined {books.quarantined:,}"
    )
    for at, book in found.books.items():
        if found.live.books.get(at) != book:
            screen.say(f"    {at[0]}/{at[1]}: live {found.live.books.get(at)}, oracle {book}")


def show_quarantine(found: Verdict) -> None:
    listing = found.listing
    behind = f", {listing.behind:,} records not judged yet" if listing.behind else ""
    screen.say(
        f"  quarantine {listing.listed:,} of {listing.rejected:,} rejected records listed{behind}"
    )
    for one in listing.differences:
        screen.say(f"    {one}")


def total(books: dict[tuple[str, int], Book]) -> Book:
    return Book(
        read=sum(book.read for book in books.values()),
        applied=sum(book.applied for book in books.values()),
        duplicate=sum(book.duplicate for book in books.values()),
        quarantined=sum(book.quarantined for book in books.values()),
    )


def as_document(found: Verdict) -> dict[str, object]:
    return {
        "exact": found.exact,
        "generation": found.live.generation,
        "marker": found.live.batch,
        "rows": len(found.live.rows),
        "live_digest": found.live_digest,
        "oracle_digest": found.oracle_digest,
        "books": asdict(total(found.books)),
        "quarantine": {
            "rejected": found.listing.rejected,
            "listed": found.listing.listed,
            "differences": len(found.listing.differences),
            "behind": found.listing.behind,
        },
        "ledger": {
            "audited": found.audit.made,
            "pages": found.audit.pages,
            "shelves": found.audit.shelves,
            "quarantined": found.audit.quarantined,
            **found.audit.dirt,
            "differences": len(found.audit.differences),
            "seen": {what: {"ledger": a, "log": b} for what, (a, b) in found.audit.seen.items()},
        },
    }
