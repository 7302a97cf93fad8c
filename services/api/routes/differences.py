"""GET /v1/pipelines/{pipeline}/difference: the last computed difference of a replay."""

import json
from http import HTTPStatus

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from infra.reports import find_difference
from ops.generations.record import Generation, Generations
from services.api.http.parameters import NoParameters
from services.api.http.problems import document_responses
from services.api.http.router import Router
from services.api.http.sources import FromSources
from services.api.routes import examples
from services.api.routes.actions import find_generations
from services.api.routes.pipelines import Name
from services.api.store.tables import AnyJson, Document
from services.times import render_instant

router = Router(tags=["pipelines"])


class Total(BaseModel):
    field: str
    before: int
    after: int


class Facet(BaseModel):
    field: str
    value: str
    before: int = Field(description="rows that had this value")
    after: int = Field(description="rows that have it")


class Period(BaseModel):
    begins: str
    added: int
    removed: int
    changed: int


class Sample(BaseModel):
    key: AnyJson
    name: str | None = Field(None, description="the key on one line")
    kind: str | None = Field(None, description="new, gone or changed")
    words: list[str] | None = Field(
        None,
        description="what it says otherwise, as `retail replay diff` prints it; null, as name and "
        "kind: an older report does not say",
    )
    before: AnyJson = Field(description="what it was; empty: the row is new")
    after: AnyJson = Field(description="what it is; empty: the row is gone")
    cause: str | None = Field(
        None,
        description="the changed thresholds that its rule reads, and whether it counts other "
        "events; null: not known",
    )


class ViewDifference(BaseModel):
    """What differs in one view."""

    view: str
    before: int = Field(description="rows")
    after: int = Field(description="rows")
    added: int
    removed: int
    changed: int
    totals: list[Total] = Field(description="numbers added up over all rows")
    facets: list[Facet] = Field(description="rows by the values of a text")
    periods: list[Period] = Field(description="rows by when their time in the key is")
    largest: list[Sample] = Field(description="rows that changed the most; some new, some gone")


class Setting(BaseModel):
    """A threshold that is not the same in both codes."""

    name: str
    before: int | None = Field(description="null: it was not there")
    after: int | None = Field(description="null: it is gone")


class Changes(BaseModel):
    """How the codes of two generations differ."""

    thresholds: list[Setting]
    files: list[str] = Field(description="the files that differ, as far as the pipeline runs them")


class Compared(BaseModel):
    """Two generations at one point of the log."""

    pipeline: str
    before: str
    after: str
    at: str = Field(description="where in the log both stand")
    records: int = Field(description="records before that")
    views: list[ViewDifference]
    changes: Changes | None = Field(
        None, description="what differs in the code; null: an older report does not say"
    )
    empty: bool = Field(description="whether nothing differs")


class Difference(BaseModel):
    pipeline: str
    before: int | None = Field(description="the generation whose rows were there; null: none")
    after: int | None = Field(description="the one compared with it; null: there is only one")
    computed_at: str | None = Field(description="when, on the wall clock; null: not yet")
    difference: Compared | None = Field(description="null: nobody has computed it yet")


@router.get(
    "/v1/pipelines/{pipeline}/difference",
    summary="What the candidate says otherwise; without a candidate, what the promotion changed",
    description="As `retail replay start` or `diff`, or the POST of this path, last computed it.",
    **examples.answer(Difference, examples.DIFFERENCE, document_responses(HTTPStatus.NOT_FOUND)),
)
def get_difference(sources: FromSources, pipeline: Name, _: NoParameters) -> JSONResponse:
    before, after = find_compared(find_generations(sources.store, pipeline))
    answer: Document = {"pipeline": pipeline, "before": before, "after": after}
    answer |= {"computed_at": None, "difference": None}
    if before is not None and after is not None:
        file = find_difference(sources.reports, pipeline, before, after)
        if file.is_file():
            answer["computed_at"] = render_instant(file.stat().st_mtime_ns // 1_000_000)
            answer["difference"] = json.loads(file.read_text(encoding="utf-8"))
    return JSONResponse(answer)


def find_compared(known: Generations) -> tuple[int | None, int | None]:
    """The promoted generation and the candidate; without a candidate, the previous and this one."""
    if known.candidate is not None:
        return _number(known.promoted), _number(known.candidate)
    return _number(known.retired), _number(known.promoted)


def _number(generation: Generation | None) -> int | None:
    return None if generation is None else generation.number
