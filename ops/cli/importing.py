"""retail import: the sales of a retailer's own files, into a world of their own."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TextIO

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
from ops.cli.options import parse_moment

LINES_SHOWN_MAX = 60
SELDOM = (50_000, 20, 100)
"""When the garbage collector runs: rows make no cycles, and it took a tenth of the time."""
Account = dict[str, Any]


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
    until: Annotated[
        str | None, typer.Option(help="Afterwards, advance the world's time to this day.")
    ] = None,
) -> None:
    """Publish the sales of files in the order in which they happened; the world's time follows.

    The same files again change nothing, and after a kill the same command continues.
    """
    if as_draft:
        print(propose_mapping(*files), end="")
        return
    if mapping is None:
        raise UserError(
            "--map should name a mapping. Write a first one: retail import --draft FILE > "
            "mapping.yaml · ready ones are in generators/importing/mappings"
        )
    settings, wanted = read_settings(), read_mapping(mapping)
    gc.set_threshold(*SELDOM)
    end_ms = to_epoch_ms(parse_moment("--until", until)) if until else None
    name = f"import-{mapping.stem}"
    mend = locate_reports(settings) / f"{name}-refused.csv"
    with report_refusals(settings, name) as report, screen.show_waiting("import", "") as wait:
        watch = Watch(
            step=lambda text: wait.show("import", text),
            progress=lambda progress: wait.show("import", render_progress(progress)),
            refused=lambda row: print(json.dumps(asdict(row), ensure_ascii=False), file=report),
        )
        try:
            imported = run_import(
                settings, wanted, files, watch, dry=dry_run, until_ms=end_ms, mend=mend
            )
        except NotDelivered as error:
            raise UserError(f"{error}. The same command goes on where this one stopped.") from error
    if as_json:
        print(json.dumps(imported.account, ensure_ascii=False, indent=1))
    else:
        show(imported, Path(report.name), dry=dry_run)
        if mend.exists():
            screen.say(f"  refused rows, to be mended and imported beside: {screen.shorten(mend)}")
        for line in render_account(imported.account):
            screen.say(line)
    if imported.refused:
        raise typer.Exit(1)


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


def render_account(account: Account) -> Iterator[str]:
    rows, currency = account["rows"], account["currency"]
    lost = [f" + {sum(rows[name].values()):,} {name}" for name in ("refused", "skipped")]
    yield f"  account    {rows['read']:,} rows read = {rows['used']:,} used{''.join(lost)}"
    for name in ("refused", "skipped"):
        for reason, count in rows[name].items():
            yield f"{count:>13,}  {name}: {screen.cut(reason, 80)}"
    if account["without_a_number"]:
        yield f"{account['without_a_number']:>13,}  have no receipt's number: each is a receipt"
    counted = ("receipts", "refunds", "adjustments", "customers", "skus")
    yield "  " + " · ".join(f"{account[name]:,} {name}" for name in counted)
    yield f"  from {account['first']} to {account['last']}"
    for month in limit(account["months"]):
        paid, returned = (
            render_money(month[name], account["decimals"]) for name in ("in_cents", "out_cents")
        )
        yield f"  {month['month']}  {month['store']}: {paid} in, {returned} out, {currency}"
    for store in limit(account["stores"]):
        units = ", ".join(f"{store[name]:,g} {name}" for name in ("sold", "refunded", "adjusted"))
        yield f"  {store['store']}: units {units}"
    for column in account["columns"]:
        yield (
            f"  {column['column']}, summed as it stands: {column['sum']} in {column['numbers']:,} "
            f"of {column['cells']:,} cells, from {column['least']} to {column['most']}, "
            f"decimals after {column['decimal']}"
        )
    yield f"  all rows, refused and skipped ones too, come to {account['all_rows_come_to']}"


def limit(rows: list[Account]) -> list[Account]:
    """The first rows that a screen takes; `--json` prints all."""
    return rows[:LINES_SHOWN_MAX]


def render_money(cents: int, decimals: int) -> str:
    return f"{cents / 10**decimals:,.{decimals}f}"
