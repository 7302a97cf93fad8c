"""retail verify --lake: the lake's tables compared with expectations, at pinned versions."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date
from typing import TYPE_CHECKING

import typer

from contracts import DAILY_DEMAND
from infra.errors import UserError
from infra.kafka import Offsets, Partition
from infra.settings import Settings
from infra.wait import wait_for
from ops.cli import screen
from ops.verify.inventory import Row
from ops.verify.served import ApiDown, fetch_views
from pipelines.lake.tables import locate_lake
from pipelines.lake.transform import MOVES

if TYPE_CHECKING:
    from pipelines.lake.quality.checks import Verdict
    from pipelines.lake.quality.sums import DailyTotals

PIPELINE = "analytics"
CAUGHT_UP_SECONDS_MAX = 60.0


def check_lake(settings: Settings, as_json: bool) -> None:
    """Check the lake against its contracts, the log's offsets and a view; write Data Docs."""
    if not locate_lake(settings).gold.committed_ms():
        raise UserError(
            "There should be a lake to check, but there is none. Start one: make up LAKE=on; or, "
            "with the broker running, make one of the log as it is: python -m pipelines.lake --once"
        )
    with screen.show_waiting("quality", "reading the view of daily demand") as wait:
        totals, why_not = read_served_totals(settings)
        wait.show("quality", "reading the lake")
        verdicts = check_tables(settings, totals)
    kept = not any(verdict.failed for verdict in verdicts)
    good = kept and totals is not None
    tables = [asdict(verdict) for verdict in verdicts]
    document = {"good": good, "not_compared": why_not, "tables": tables}
    if as_json:
        print(json.dumps(document))
    else:
        show(verdicts, why_not)
        screen.say(f"  every expectation and what failed it: {settings.data_docs}/index.html")
        screen.say(f"  {conclude(kept, good)}")
    if not good:
        raise typer.Exit(1)


def conclude(kept: bool, good: bool) -> str:
    if good:
        return "good"
    return "NOT COMPARED: what was checked is good" if kept else "NOT GOOD"


def check_tables(settings: Settings, totals: "DailyTotals | None") -> list["Verdict"]:
    # Imported here: Spark and the expectations take a second, which no other command should.
    from pipelines.engine.session import get_engine
    from pipelines.lake.quality.checks import check
    from pipelines.lake.session import start_lake_session

    spark = start_lake_session(settings, "quality")
    try:
        return check(spark, locate_lake(settings), settings.data_docs, totals)
    finally:
        get_engine(spark).kill()


def read_served_totals(settings: Settings) -> tuple["DailyTotals | None", str]:
    """The served view's totals of each day, once the lake covers them; or why there are none.

    The lake is a batch behind the view.
    """
    from pipelines.lake.quality.sums import DailyTotals

    try:
        live = fetch_views(settings, PIPELINE)
    except ApiDown as down:
        return None, str(down)
    moves = {topic.name for topic in MOVES}
    ends = {partition: end for partition, end in live.inputs.items() if partition[0] in moves}
    if not wait_for(lambda: holds(settings, ends), CAUGHT_UP_SECONDS_MAX):
        return None, f"the lake is behind marker {live.batch}; it runs where LAKE=on: make status"
    days = sum_by_day(live.views[DAILY_DEMAND.name])
    return DailyTotals(f"{DAILY_DEMAND.entity} at marker {live.batch}", ends, days), ""


def holds(settings: Settings, ends: Offsets) -> bool:
    archived: dict[Partition, int] = {}
    for topic in MOVES:
        archived.update(locate_lake(settings).silver(topic).read_coverage().ends)
    return all(archived.get(partition, 0) >= end for partition, end in ends.items())


def sum_by_day(rows: Iterable[Row]) -> dict[date, Counter[str]]:
    """The amounts of each day, over all stores and products."""
    totals: dict[date, Counter[str]] = defaultdict(Counter)
    for row in rows:
        sums = {name: row[name] for name in ("units_sold", "units_refunded")}
        totals[row["day_start"].astimezone(UTC).date()].update(sums)
    return totals


def show(verdicts: Iterable["Verdict"], why_not: str) -> None:
    for verdict in verdicts:
        sign = "✗" if verdict.failed else "✓"
        kept = verdict.expectations - len(verdict.failed)
        screen.say(
            f"  {sign} {verdict.table:<32} version {verdict.version:>6,}"
            f" {kept:>3} of {verdict.expectations:>3} {verdict.suite}"
        )
        for failed in verdict.failed:
            screen.say(f"      {failed}")
    if why_not:
        screen.say(f"  ? totals not compared with a view: {why_not}")
