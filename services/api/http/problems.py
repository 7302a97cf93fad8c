"""Problem documents (RFC 9457): what was expected, what was found, what to do."""

import logging
import sqlite3
from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from services.api.problem import Invalid, Problem, Unavailable
from services.api.store.tables import AnyJson

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
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""The error answers of any route. With SECURE=on it refuses a missing or insufficient token; it may
be too busy, or not have loaded yet what it answers from."""


def document_responses(*statuses: HTTPStatus) -> Responses:
    """The error answers of a route beside ALWAYS, for its OpenAPI."""
    content = {
        Problem.media_type: {"schema": {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}}
    }
    return {int(status): {"description": status.phrase, "content": content} for status in statuses}


ITEM_PROBLEMS = document_responses(HTTPStatus.NOT_FOUND)
"""The error answers of a route to one thing, which may be unknown."""


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
    app.add_exception_handler(Problem, _handle_problem)
    app.add_exception_handler(sqlite3.DatabaseError, _handle_unreadable)
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


def respond(problem: Problem, path: str) -> JSONResponse:
    """The answer to a request for the path."""
    return JSONResponse(
        problem.to_document(path), problem.status, problem.headers, problem.media_type
    )


async def _handle_problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return respond(error, request.url.path)


async def _handle_unreadable(request: Request, error: Exception) -> JSONResponse:
    problem = Unavailable(
        "Copy not readable now",
        f"Expected to read the API's copy of the log, but: {error}. Try again in a second; "
        "GET /readyz says which part fails.",
    )
    return respond(problem, request.url.path)


async def _handle_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [_render_fault(each) for each in error.errors()[:ERRORS_SHOWN_MAX]]
    detail = f"{'; '.join(faults)}. What is accepted stands in GET /openapi.json."
    return respond(Invalid("Invalid request", detail), request.url.path)


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
    return respond(problem, path)


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "Expected to answer, but the program failed. Its log says where: make logs."
    problem = Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error", detail)
    return respond(problem, request.url.path)


def _render_fault(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"][1:]) or "request"
    if error["type"] == "extra_forbidden":
        return f"{where}: expected no such query parameter"
    value = repr(error.get("input"))[:INPUT_SHOWN_CHARACTERS_MAX]
    return f"{where}: {error['msg'].lower()}, found {value}"
