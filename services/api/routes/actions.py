"""POST routes that act: start, compare, promote, roll back, prune, release, forget, simulate.

Each runs the command of `retail` with the same name, so both do and say the same. GET /v1/audit
lists the actions, who asked for each, and the refusals.
"""

from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Path, Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from contracts import ACTIONS, build_model
from infra.settings import DEFAULT_SPEED
from ops.control.load import (
    RECEIPTS_PER_SECOND_MAX,
    RECEIPTS_PER_SECOND_MIN,
    SPEED_MAX,
    SPEED_MIN,
)
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.authority import Authorized
from services.api.http.parameters import FromStore, IdFilter, NoParameters, PageQuery, Parameters
from services.api.http.router import Router, document_responses
from services.api.routes.pipelines import Name, find_generations
from services.api.store.mirrored import AUDITED
from services.api.store.tables import WHOLE_MAX

BECAUSE_CHARACTERS_MAX = 500
CUSTOMER_CHARACTERS_MAX = 64
"""As long as the contracts let an id be."""
THRESHOLDS_MAX = 16
TURNED_MAX = 16
"""Stores or products in one request."""

StoreId = Annotated[str, StringConstraints(pattern=r"^S\d{3,6}$")]
Hit = Annotated[str, StringConstraints(pattern=r"^SKU-\d{5,6}(=[0-9.]{1,8})?$")]
Threshold = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}=-?\d{1,12}$")]

router = Router(tags=["actions"])


def _find_pipeline(store: FromStore, pipeline: Name) -> str:
    """The name of a pipeline that there is. Raises Problem."""
    return find_generations(store, pipeline).pipeline


KnownPipeline = Annotated[str, Depends(_find_pipeline)]


def _refuse_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("expected a text without NUL, which no command line can hold")
    return text


Argument = Annotated[str, AfterValidator(_refuse_nul), Field(min_length=1)]


class Done(BaseModel):
    """What a command did, in its own words."""

    command: str = Field(description="the command line that does the same")
    said: str = Field(description="what it printed")


class GenerationQuery(Parameters):
    number: int = Field(ge=1, description="the generation that is meant")


GenerationParameters = Annotated[GenerationQuery, Query()]


class StartQuery(Parameters):
    thresholds: list[Threshold] = Field(
        [],
        alias="set",
        max_length=THRESHOLDS_MAX,
        description="a threshold and its value in the candidate's code only, as name=value; may "
        "be repeated",
    )


class ReleaseQuery(Parameters):
    because: Argument = Field(
        max_length=BECAUSE_CHARACTERS_MAX,
        pattern=r"\S",
        description="why it shall count; kept with the release",
    )


class ForgetQuery(Parameters):
    customer_id: Argument = Field(
        max_length=CUSTOMER_CHARACTERS_MAX,
        description="what the customer is known by outside the log, as events were sent with it",
    )


class SimulationQuery(Parameters):
    receipts_per_second: float | None = Field(
        None,
        ge=RECEIPTS_PER_SECOND_MIN,
        le=RECEIPTS_PER_SECOND_MAX,
        description=f"of all stores, mean of a week, at speed {DEFAULT_SPEED:g}",
    )
    speed: float | None = Field(
        None, ge=SPEED_MIN, le=SPEED_MAX, description="world seconds per wall second"
    )
    quiet_store: list[StoreId] = Field(
        [], max_length=TURNED_MAX, description="a store that sells nothing now"
    )
    loud_store: list[StoreId] = Field(
        [], max_length=TURNED_MAX, description="a quiet store that sells again"
    )
    hit: list[Hit] = Field(
        [], max_length=TURNED_MAX, description="a product that is wanted more, as SKU or SKU=FACTOR"
    )
    usual: bool = Field(False, description="first turn everything back to how the world began")


class AuditQuery(PageQuery):
    action: IdFilter = Field(None, description="only this one, as promote-generation")
    who: IdFilter = Field(None, description="only what was asked with this token")
    outcome: IdFilter = Field(None, description="begun, done, refused or failed")


class Action(build_model(ACTIONS)):  # type: ignore[misc]  # made at run time
    """What somebody asked for, and what came of it so far."""


class AuditPage(TopicsPage):
    items: list[Action] = Field(description="what was asked for last comes first")


RESPONSES = document_responses(
    HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GATEWAY_TIMEOUT
)

action = partial(router.post, response_model=Done, responses=RESPONSES)
"""Declares a route that runs a command and answers with its output."""


@action(
    "/v1/pipelines/{pipeline}/start",
    summary="Read the log again with the code on disk, beside what readers follow, and compare",
    description="Answers once the candidate has caught up and the difference is there. After a 504 "
    "the replay goes on: GET /v1/pipelines/{pipeline} says how far it is.",
)
def start_replay(
    actions: Authorized, pipeline: KnownPipeline, query: Annotated[StartQuery, Query()]
) -> JSONResponse:
    settings = [word for threshold in query.thresholds for word in ("--set", threshold)]
    target = " ".join((pipeline, *query.thresholds))
    return _run(actions, target, "replay", "start", pipeline, *settings)


@action("/v1/pipelines/{pipeline}/promote", summary="Let every reader follow the candidate")
def promote_generation(
    actions: Authorized, pipeline: KnownPipeline, query: GenerationParameters
) -> JSONResponse:
    number, target = str(query.number), f"{pipeline} g{query.number}"
    return _run(actions, target, "replay", "promote", pipeline, "--number", number)


@action(
    "/v1/pipelines/{pipeline}/rollback",
    summary="Let every reader follow the generation before again",
)
def roll_back_generation(
    actions: Authorized, pipeline: KnownPipeline, _: NoParameters
) -> JSONResponse:
    return _run(actions, pipeline, "replay", "rollback", pipeline)


@action("/v1/pipelines/{pipeline}/prune", summary="Forget a generation that readers do not follow")
def prune_generation(
    actions: Authorized, pipeline: KnownPipeline, query: GenerationParameters
) -> JSONResponse:
    number, target = str(query.number), f"{pipeline} g{query.number}"
    return _run(actions, target, "replay", "prune", pipeline, "--number", number)


@action(
    "/v1/pipelines/{pipeline}/difference",
    summary="Compute what the candidate says otherwise, at the newest marker",
)
def compute_difference(
    actions: Authorized, pipeline: KnownPipeline, _: NoParameters
) -> JSONResponse:
    return _run(actions, pipeline, "replay", "diff", pipeline)


@action(
    "/v1/quarantine/{topic}/{partition}/{offset}/release",
    summary="Publish a new event that wraps a rejected one, so that running sums count it once",
)
def release_rejected(
    actions: Authorized,
    topic: Annotated[str, Path(pattern=r"^[a-z0-9.-]{1,249}$")],
    partition: Annotated[int, Path(ge=0, le=WHOLE_MAX)],
    offset: Annotated[int, Path(ge=0, le=WHOLE_MAX)],
    query: Annotated[ReleaseQuery, Query()],
) -> JSONResponse:
    place = f"{topic}/{partition}/{offset}"
    words = ("quarantine", "release", f"--because={query.because}", "--", place)
    return _run(actions, place, *words, why=query.because)


@action(
    "/v1/customers/forget",
    summary="Erase what a customer is known by, and their cards; the log keeps pseudonyms",
)
def forget_customer(actions: Authorized, query: Annotated[ForgetQuery, Query()]) -> JSONResponse:
    # The audit topic keeps its records, so this one does not name the customer; the certificate
    # has the pseudonym.
    return _run(actions, "a customer", "forget", "customer", "--", query.customer_id)


@action("/v1/simulation", summary="Turn the load of the running world; or say what is in force")
def turn_load(actions: Authorized, query: Annotated[SimulationQuery, Query()]) -> JSONResponse:
    words = []
    for name, given in query.model_dump(exclude_defaults=True).items():
        option = f"--{name.replace('_', '-')}"
        values = given if isinstance(given, list) else [given]
        words += [option if value is True else f"{option}={value}" for value in values]
    return _run(actions, " ".join(("world", *words)), "simulate", *words)


@router.get(
    "/v1/audit",
    summary="Who did what through the API, and who was refused, the newest first, in pages",
    description="An action is recorded before it begins, and before its answer is given. It may be "
    "listed a moment later.",
    response_model=AuditPage,
)
def list_actions(store: FromStore, query: Annotated[AuditQuery, Query()]) -> JSONResponse:
    page, inputs = query.read_newest(store, "actions", AUDITED)
    items = [AUDITED.table.to_json(row) for row in page.items]
    return JSONResponse({"items": items, "next": page.next, **date_by_offsets(inputs)})


def _run(actions: Authorized, target: str, *arguments: str, why: str | None = None) -> JSONResponse:
    said = actions.run(target, *arguments, why=why)
    return JSONResponse({"command": " ".join(("retail", *arguments)), "said": said})
