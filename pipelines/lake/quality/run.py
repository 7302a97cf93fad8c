"""Checks the lake: each table from where its last check ended, and notes what came of it."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contracts import DAILY_DEMAND, Contract
from infra.checks import (
    EVIDENCE_ROWS_MAX,
    Checked,
    Outcome,
    Result,
    locate_quality,
    read_checked,
    write_checked,
)
from infra.clock import get_wall_ms
from infra.kafka import Offsets
from infra.lake import Folders, flatten_topics, group_by_topic, locate_folders
from infra.lock import LockHeld, lock_folder
from infra.reports import locate_reports
from infra.settings import Settings
from pipelines.lake.quality import served
from pipelines.lake.quality.checks import Check, list_checks
from pipelines.lake.quality.docs import Docs
from pipelines.lake.quality.reading import Pinned, pin
from pipelines.lake.work import limit_ends

log = logging.getLogger("checks")

ROWS_MAX = 100_000
"""How many offsets are checked at a time, and of a table in one run: the rest in the next."""
SERVED_MS = 20 * 60 * 1000
"""Wall time between two comparisons with the served view, which is read whole."""
DAYS_MAX = 2
"""The view's newest days that are compared with silver."""
LOCK_SECONDS_MAX = 600.0


def check(settings: Settings, *, whole: bool = False) -> tuple[Checked, str]:
    """Check every table and view; the results, and why daily demand is not compared, or nothing.

    `whole`: all rows, and all days of the view; else what is new. It writes results and pages.
    """
    folder, folders = locate_quality(locate_reports(settings)), locate_folders(settings)
    with lock_folder(folder, LockHeld("check", "write its results"), LOCK_SECONDS_MAX):
        before = read_checked(folder)
        docs = Docs(folder)
        run = Run(folders, docs, before.tables, whole)
        checks = list_checks(settings)
        new = [result for each in checks if (result := run.check_table(each)) is not None]
        missing: dict[str, str] = {}
        for view in served.VIEWS:
            try:
                new += run.check_view(settings, view)
            except served.NotCompared as error:
                missing[view.name] = str(error)
                log.info("not checked: %s", error)
        tables = {**before.tables, **{result.table: result for result in new}}
        docs.publish()
        after = Checked(get_wall_ms(), "", tables)
        write_checked(folder, after, [each for each in new if is_news(each, before.tables)])
    return after, missing.get(DAILY_DEMAND.name, "")


@dataclass(frozen=True)
class Run:
    """One run over all tables."""

    folders: Folders
    docs: Docs
    before: Mapping[str, Result]
    whole: bool

    def check_table(self, check: Check) -> Result | None:
        """The new result of a table; None: there is no table. It raises nothing."""
        folder = check.locate(self.folders)
        name = str(folder).removeprefix(f"{self.folders.root}/")
        previous = self.before.get(name, Result(name))
        try:
            table = pin(folder)
            return self._follow(check, table, previous) if table.version >= 0 else None
        except Exception as error:
            return fail(previous, error)

    def _follow(self, check: Check, table: Pinned, previous: Result) -> Result:
        """The table's rows beyond those checked; with them those that failed, if they are few."""
        rest = Rest({}, {}) if self.whole else resume(previous, table.ends)
        now_ms, ends = get_wall_ms(), rest.begin
        if ends == table.ends:
            return replace(previous, version=table.version, checked_ms=now_ms, trouble="")
        found: list[Outcome] = list(rest.standing)
        for start, end in cut(rest.begin, table.ends, ROWS_MAX if check.in_parts else None):
            for frame in check.measure(self.folders, table, start, end):
                found += self.docs.validate(previous.table, frame, get_wall_ms())
            ends = end
            if not self.whole:
                break
        return Result(
            table=previous.table,
            version=table.version,
            checked_ms=now_ms,
            records=count(rest.begin, ends),
            outcomes=merge(found),
            starts=group_by_topic(rest.since),
            ends=group_by_topic(ends),
        )

    def check_view(self, settings: Settings, view: Contract) -> list[Result]:
        """The new result of a served view, if it is due. Raises NotCompared."""
        name, now_ms = f"served/{view.entity}", get_wall_ms()
        previous = self.before.get(name, Result(name))
        if not self.whole and now_ms - previous.checked_ms < SERVED_MS:
            return []
        rows = served.fetch(settings, view)
        if view == DAILY_DEMAND:
            served.await_lake(self.folders, rows)
        try:
            found: list[Outcome] = []
            for frame in served.measure(self.folders, rows, None if self.whole else DAYS_MAX):
                found += self.docs.validate(name, frame, get_wall_ms())
        except Exception as error:
            return [fail(previous, error)]
        return [Result(name, rows.batch, now_ms, rows.rows.num_rows, merge(found))]


def is_news(result: Result, before: Mapping[str, Result]) -> bool:
    """Whether it says more than that the result before still holds."""
    previous = before.get(result.table)
    return bool(result.trouble) or previous is None or result.outcomes is not previous.outcomes


def fail(previous: Result, error: Exception) -> Result:
    """The result before, with the reason why there is no newer one."""
    log.error("%s could not be checked", previous.table, exc_info=error)
    trouble = f"{type(error).__name__}: {error}"
    return replace(previous, checked_ms=get_wall_ms(), trouble=trouble)


@dataclass(frozen=True)
class Rest:
    """What is left to check of a table."""

    begin: Offsets
    since: Offsets
    """Where the check began that found what still fails; else as `begin`."""
    standing: tuple[Outcome, ...] = ()
    """The failures that are not looked at again."""


def resume(previous: Result, ends: Offsets) -> Rest:
    """Go on where the check before ended.

    What failed is checked again, with what is new, while that is few rows: it may have been
    mended. Then it stands until somebody checks the whole table. A table that ends before what was
    checked has been made anew.
    """
    starts, checked = flatten_topics(previous.starts), flatten_topics(previous.ends)
    if any(ends.get(partition, 0) < end for partition, end in checked.items()):
        return Rest({}, {})
    if not previous.failures:
        return Rest(checked, checked)
    if count(starts, ends) <= ROWS_MAX:
        return Rest(starts, starts)
    return Rest(checked, starts, previous.failures)


def count(starts: Offsets, ends: Offsets) -> int:
    """The number of offsets between them."""
    return sum(end - starts.get(partition, 0) for partition, end in ends.items())


def cut(
    starts: Offsets, ends: Offsets, offsets_max: int | None
) -> Iterator[tuple[Offsets, Offsets]]:
    """The parts between starts and ends, of so many offsets each; None: one part."""
    while starts != ends:
        until = ends if offsets_max is None else limit_ends(starts, ends, offsets_max)
        yield starts, until
        starts = until


def merge(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """One outcome per expectation, of those of all parts."""
    merged: dict[tuple[str, str], Outcome] = {}
    for each in outcomes:
        key = each.suite, each.expectation
        before = merged.get(key)
        merged[key] = each if before is None else add(before, each)
    return tuple(merged.values())


def add(one: Outcome, other: Outcome) -> Outcome:
    rows = (*one.rows, *other.rows)[:EVIDENCE_ROWS_MAX]
    return replace(
        one,
        success=one.success and other.success,
        unexpected=one.unexpected + other.unexpected,
        rows=rows,
    )
