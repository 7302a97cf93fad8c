"""retail verify --lake: the lake's tables compared with expectations, at pinned versions."""

import json
from collections.abc import Iterable
from dataclasses import asdict

import typer

from infra.checks import Checked, Result, locate_quality
from infra.errors import UserError
from infra.lake import locate_folders, read_committed_ms
from infra.reports import locate_reports
from infra.settings import Settings
from ops.cli import screen


def check_lake(settings: Settings, as_json: bool) -> None:
    """Check all of the lake against its contracts, the log's offsets and a view; write pages."""
    if not read_committed_ms(locate_folders(settings).daily_facts):
        raise UserError(
            "There should be a lake to check, but there is none. Start one: make up LAKE=on; or, "
            "with the broker running, make one of the log as it is: python -m pipelines.lake --once"
        )
    from pipelines.lake.quality.run import check  # here: it takes seconds, which no other should

    with screen.show_waiting("quality", "reading the lake, and the view of daily demand"):
        checked, why_not = check(settings, whole=True)
    kept = is_kept(checked)
    good = kept and not why_not
    if as_json:
        tables = [asdict(result) for result in checked.tables.values()]
        print(json.dumps({"good": good, "not_compared": why_not, "tables": tables}))
    else:
        show(checked.tables.values(), why_not)
        pages = locate_quality(locate_reports(settings)) / "index.html"
        screen.say(f"  every expectation and what failed it: {screen.shorten(pages)}")
        screen.say(f"  {conclude(kept, good)}")
    if not good:
        raise typer.Exit(1)


def is_kept(checked: Checked) -> bool:
    return not any(result.failures or result.trouble for result in checked.tables.values())


def conclude(kept: bool, good: bool) -> str:
    if good:
        return "good"
    return "NOT COMPARED: what was checked is good" if kept else "NOT GOOD"


def show(results: Iterable[Result], why_not: str) -> None:
    for result in results:
        failures, number = result.failures, len(result.outcomes)
        sign = "✗" if failures or result.trouble else "✓"
        screen.say(
            f"  {sign} {result.table:<32} version {result.version:>6,}"
            f" {number - len(failures):>3} of {number:>3} · {result.records:,} records"
        )
        for failed in failures:
            screen.say(f"      {failed.expectation}: not so of {failed.unexpected:,}")
            for row in failed.rows:
                screen.say(f"        {json.dumps(row, ensure_ascii=False)}")
        if result.trouble:
            screen.say(f"      could not run: {result.trouble}")
    if why_not:
        screen.say(f"  ? totals not compared with a view: {why_not}")
