"""Problem documents (RFC 9457): what was expected, what was found, what to do."""

import logging
import sqlite3
from collections.abc import Callable, Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from services.api import commands
from services.api.commands import CommandBusy, CommandError, CommandFailed, CommandTooSlow
from services.api.lake import tables
from services.api.lake.tables import LakeBusy, LakeError, LakeMissing, LakeTooSlow
from services.api.store.errors import (
    MirrorLoading,
    NotRecorded,
    NoWorldClock,
    StoreError,
    ViewLoading,
    ViewMissing,
    render_cause,
)
from services.api.store.tables import AnyJson

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:retail:problem:"
ERRORS_SHOWN_MAX = 10
INPUT_SHOWN_CHARACTERS_MAX = 80

log = logging.getLogger("api")


class ProblemDocument(BaseModel):
    """What went wrong, for a program (type, status) and for a person (title, detail)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="names the kind of problem; stable, to be matched by programs")
    title: str = Field(description="the kind of problem, in words")
    status: int = Field(description="the HTTP status of this answer")
    detail: str = Field(description="what was expected, what was found, what to do")
    instance: str = Field(description="the path that was asked for")


class Problem(Exception):
    """An error answer; routes and their callees may raise it."""

    def __init__(
        self,
        status: HTTPStatus,
        title: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.headers = headers
        self.members = members

    def to_response(self, path: str) -> JSONResponse:
        document = {
            "type": TYPE_PREFIX + self.title.lower().replace(" ", "-"),
            "title": self.title,
            "status": int(self.status),
            "detail": self.detail,
            "instance": path,
            **self.members,
        }
        return JSONResponse(document, self.status, headers=self.headers, media_type=MEDIA_TYPE)


class NotFound(Problem):
    """What was asked for does not exist."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, title, detail, headers=None, **members)


class Invalid(Problem):
    """The request asks for what the route does not take."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        super().__init__(HTTPStatus.UNPROCESSABLE_ENTITY, title, detail, headers=None, **members)


class Unavailable(Problem):
    """The same request may be answered in a second."""

    def __init__(self, title: str, detail: str, **members: object) -> None:
        headers = {"Retry-After": "1"}
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, title, detail, headers=headers, **members)


KnownError = StoreError | LakeError | CommandError | sqlite3.DatabaseError
"""The errors of the store, the lake and commands that have a problem document."""

Responses = dict[int | str, AnyJson]
"""Answers of a route by status, as FastAPI documents them."""

ALWAYS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
"""The error answers of any route. With SECURE=on it refuses a missing or insufficient token."""


def document_responses(*statuses: HTTPStatus) -> Responses:
    """The error answers of a route, for its OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}}}
    return {
        int(status): {"description": status.phrase, "content": content}
        for status in (*statuses, *ALWAYS)
    }


NO_PROBLEMS = document_responses()
"""The error answers of a route that can always answer a valid request."""
LIST_PROBLEMS = document_responses(HTTPStatus.SERVICE_UNAVAILABLE)
"""The error answers of a route to a list, which may not be loaded."""
ITEM_PROBLEMS = document_responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE)
"""The error answers of a route to one thing, which may be unknown or not loaded."""


BEARER, BASIC = "HTTPBearer", "HTTPBasic"
"""The names of the schemes."""
BASIC_SCHEME = {
    "type": "http",
    "scheme": "basic",
    "description": "With SECURE=on, to read in a browser: any name, and a token as the password.",
}
OPTIONAL_TOKEN: AnyJson = {"security": [{}, {BEARER: []}]}
"""The security of a route that writes. A program on this machine needs a token with SECURE=on."""


def install(app: FastAPI) -> None:
    """Answer every error of the app with a problem document."""
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http)
    app.add_exception_handler(Exception, _handle_unexpected)
    for kind in (Problem, StoreError, LakeError, CommandError, sqlite3.DatabaseError):
        app.add_exception_handler(kind, _handle_known)
    app.openapi = _add_problems(app.openapi)  # type: ignore[method-assign]  # as FastAPI says


def _add_problems(openapi: Callable[[], AnyJson]) -> Callable[[], AnyJson]:
    """A function with the same document, plus the schema of a problem and the security schemes."""

    def document() -> AnyJson:
        made = openapi()
        name = ProblemDocument.__name__
        made["components"]["schemas"].setdefault(name, ProblemDocument.model_json_schema())
        made["components"].setdefault("securitySchemes", {})[BASIC] = BASIC_SCHEME
        made["security"] = [{}, {BEARER: []}, {BASIC: []}]
        return made

    return document


async def _handle_known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem | KnownError)
    problem = error if isinstance(error, Problem) else to_problem(error)
    return problem.to_response(request.url.path)


async def _handle_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [_render_fault(each) for each in error.errors()[:ERRORS_SHOWN_MAX]]
    detail = f"{'; '.join(faults)}. What is accepted stands in GET /openapi.json."
    return Invalid("Invalid request", detail).to_response(request.url.path)


async def _handle_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    path, status = request.url.path, HTTPStatus(error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        detail = f"Expected one of the paths in GET /openapi.json, found {path}."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "GET")
        detail = (
            f"Expected {allowed}, found {request.method}. GET /openapi.json says what a path takes."
        )
    else:
        detail = str(error.detail)
    problem = Problem(status, status.phrase.capitalize(), detail, headers=error.headers)
    return problem.to_response(path)


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "Expected to answer, but the program failed. Its log says where: make logs."
    problem = Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error", detail)
    return problem.to_response(request.url.path)


def _render_fault(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"][1:]) or "request"
    if error["type"] == "extra_forbidden":
        return f"{where}: expected no such query parameter"
    value = repr(error.get("input"))[:INPUT_SHOWN_CHARACTERS_MAX]
    return f"{where}: {error['msg'].lower()}, found {value}"


def to_problem(error: KnownError) -> Problem:
    """The problem of an error. One without a description is an internal error: it is raised."""
    match error:
        case LakeError():
            return _describe_lake_error(error)
        case CommandError():
            return _describe_command_error(error)
        case _:
            return _describe_store_error(error)


def _describe_store_error(error: StoreError | sqlite3.DatabaseError) -> Problem:
    match error:
        case ViewMissing():
            return Unavailable(
                "View withdrawn" if error.refused else "View not there yet",
                f"Expected a promoted generation of the pipeline that writes {error.view}, found "
                f"{error.refused or 'none'}{render_cause(error.trouble)}. "
                "See which pipelines run: make status.",
            )
        case ViewLoading():
            return Unavailable(
                "View being loaded",
                f"Expected {error.view} loaded to a marker, found {error.progress}. "
                "Try again when GET /readyz says ready.",
            )
        case MirrorLoading():
            return Unavailable(
                "Topic being loaded",
                f"Expected {error.topic} read to its end, but: {error.reason}. Try again in a "
                "second.",
            )
        case NoWorldClock():
            return Unavailable(
                "No world clock",
                "Expected a world clock to tell the time by, found none in "
                "private.control.clock.v1. The simulator announces it: make up.",
            )
        case NotRecorded():
            return Unavailable(
                "Not recorded",
                f"Expected to record the action before it begins, but: {error}. Nothing was done; "
                "try again.",
            )
        case sqlite3.DatabaseError():
            return Unavailable(
                "Copy not readable now",
                f"Expected to read the API's copy of the log, but: {error}. Try again in a second; "
                "GET /readyz says which part fails.",
            )
    raise error


def _describe_lake_error(error: LakeError) -> Problem:
    match error:
        case LakeMissing():
            return Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Lake not there",
                f"Expected the lake to keep the events of {error.topic.name}, found {error.found}. "
                "It keeps them from the log's first record on, once it runs: make down && make up "
                "LAKE=on",
            )
        case LakeBusy():
            return Unavailable(
                "Too many in the lake",
                f"Expected at most {tables.AT_ONCE_MAX} requests to read the lake at once, found "
                "more. Try again in a second.",
            )
        case LakeTooSlow():
            return Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too long in the lake",
                f"Expected to have read the lake within {tables.SECONDS_MAX:g} s, but had not. Ask "
                "for a shorter time, or read the tables with a tool of your own: "
                "pipelines/lake/README.md.",
            )
    raise error


def _describe_command_error(error: CommandError) -> Problem:
    match error:
        case CommandBusy():
            return Unavailable(
                "Another command runs",
                "Expected to run the command alone, but another one of its kind is at work. Try "
                "again once it is done.",
            )
        case CommandFailed():
            return Problem(HTTPStatus.CONFLICT, "Command refused", str(error))
        case CommandTooSlow():
            return Problem(
                HTTPStatus.GATEWAY_TIMEOUT,
                "Command too slow",
                f"Expected the command to end within {commands.SECONDS_MAX:g} s, but it did not, "
                "and was ended. Look how far it came: make status.",
            )
    raise error
