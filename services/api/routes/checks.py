"""GET /v1/checks: what the newest check found of each table of the lake."""

from pydantic import BaseModel, Field

from infra.checks import Checked, Result, locate_quality, read_checked
from services.api.http.parameters import FromSources, NoParameters, Sources
from services.api.http.router import Router
from services.api.store.tables import AnyJson
from services.times import render_instant, render_instant_or_none

router = Router(tags=["history"])


class Failure(BaseModel):
    """An expectation that does not hold."""

    suite: str = Field(description="the rows that it is about")
    expectation: str = Field(description="what should hold")
    unexpected: int = Field(description="the number of rows that are otherwise")
    rows: list[AnyJson] = Field(description="the first of them")


class TableCheck(BaseModel):
    """The newest check of a table, or of a served view.

    The first covers all rows, each later one what is new since, and what failed before.
    """

    table: str = Field(description="its folder in the lake; a served view begins with `served/`")
    version: int = Field(description="of the table; of a view the marker")
    checked_at: str = Field(description="when, on the wall clock")
    records: int = Field(description="the offsets of the log that it covers; of a view, its rows")
    expectations: int = Field(description="how many were checked")
    failures: list[Failure] = Field(description="those that do not hold")
    trouble: str | None = Field(description="why this check could not run; null: it ran")


class Checks(BaseModel):
    checked_at: str | None = Field(description="when the newest checks ended; null: none did yet")
    trouble: str | None = Field(description="why the newest checks could not run; null: they ran")
    tables: list[TableCheck] = Field(description="each that was checked")


@router.get(
    "/v1/checks",
    summary="Whether the lake's tables are as expected",
    description="The lake checks its tables by Great Expectations, every few minutes. A failure "
    "has the rows that break the expectation. It stops nothing.",
)
def list_checks(sources: FromSources, _: NoParameters) -> Checks:
    checked = read_newest(sources)
    return Checks(
        checked_at=render_instant_or_none(checked.ran_ms or None),
        trouble=checked.trouble or None,
        tables=[_describe(result) for _, result in sorted(checked.tables.items())],
    )


def read_newest(sources: Sources) -> Checked:
    return read_checked(locate_quality(sources.reports))


def _describe(result: Result) -> TableCheck:
    return TableCheck(
        table=result.table,
        version=result.version,
        checked_at=render_instant(result.checked_ms),
        records=result.records,
        expectations=len(result.outcomes),
        failures=[
            Failure(
                suite=outcome.suite,
                expectation=outcome.expectation,
                unexpected=outcome.unexpected,
                rows=[dict(row) for row in outcome.rows],
            )
            for outcome in result.failures
        ],
        trouble=result.trouble or None,
    )
