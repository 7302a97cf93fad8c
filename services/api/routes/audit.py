"""GET /v1/audit: the actions, who asked for each, and the refusals."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import ACTIONS, build_model
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.pages import request_newest, select_page
from services.api.http.parameters import IdFilter, PageQuery
from services.api.http.problems import LIST_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import ACTIONS_TABLE, NEWEST_ACTIONS_FIRST

router = Router(tags=["actions"])


class AuditQuery(PageQuery):
    action: IdFilter = Field(None, description="only this one, as promote-generation")
    who: IdFilter = Field(None, description="only what was asked with this token")
    outcome: IdFilter = Field(None, description="begun, done, refused or failed")


class Action(build_model(ACTIONS)):  # type: ignore[misc]  # made at run time
    """What somebody asked for, and what came of it so far."""


class AuditPage(TopicsPage):
    items: list[Action] = Field(description="what was asked for last comes first")


@router.get(
    "/v1/audit",
    summary="Who did what through the API, and who was refused, the newest first, in pages",
    description="An action is recorded before it begins, and before its answer is given. It may be "
    "listed a moment later.",
    **examples.answer(AuditPage, examples.AUDIT_PAGE, LIST_PROBLEMS),
)
def list_actions(store: FromStore, query: Annotated[AuditQuery, Query()]) -> JSONResponse:
    selection, request = request_newest(query, "actions", ACTIONS_TABLE, NEWEST_ACTIONS_FIRST)
    with store.actions.open() as connection:
        page = select_page(connection.execute, selection, request)
        as_of = date_by_offsets(read_offsets(connection, ACTIONS.name))
    items = [ACTIONS_TABLE.to_json(row) for row in page.items]
    return JSONResponse({"items": items, "next": page.next, **as_of})
