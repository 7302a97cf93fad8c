"""Problem documents (RFC 9457): what was expected, what was found, what to do."""

import logging
import re
import sqlite3
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from services.api.http.router import add_problems
from services.api.problem import Invalid, Problem, Unavailable

ERRORS_SHOWN_MAX = 10
INPUT_SHOWN_CHARACTERS_MAX = 80
REGISTRY = re.compile(r"/(?:subjects|schemas|config|mode)(?:/|$)")
"""The paths whose clients are those of a schema registry, with errors in a form of their own."""
REGISTRY_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"

log = logging.getLogger("api")


def install(app: FastAPI) -> None:
    """Answer every error of the app with a problem document."""
    for kind in (RequestValidationError, HTTPException, Problem, sqlite3.DatabaseError, Exception):
        app.add_exception_handler(kind, _handle)
    app.openapi = add_problems(app.openapi)  # type: ignore[method-assign]  # as FastAPI says


def respond(problem: Problem, path: str) -> JSONResponse:
    """The answer to a request for the path."""
    document, media_type = problem.to_document(path), problem.media_type
    if REGISTRY.match(path):
        code = problem.members.get("error_code", int(problem.status))
        document, media_type = {"error_code": code, "message": problem.detail}, REGISTRY_MEDIA_TYPE
    return JSONResponse(document, problem.status, problem.headers, media_type)


async def _handle(request: Request, error: Exception) -> JSONResponse:
    return respond(_describe(request, error), request.url.path)


def _describe(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, sqlite3.DatabaseError):
        return Unavailable(
            "Copy not readable now",
            f"Expected to read the API's copy of the log, but: {error}. Try again in a second; "
            "GET /readyz says which part fails.",
        )
    if isinstance(error, RequestValidationError):
        faults = [_render_fault(each) for each in error.errors()[:ERRORS_SHOWN_MAX]]
        detail = f"{'; '.join(faults)}. What is accepted stands in GET /openapi.json."
        return Invalid("Invalid request", detail)
    if isinstance(error, HTTPException):
        return _describe_http(request, error)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "Expected to answer, but the program failed. Its log says where: make logs."
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error", detail)


def _describe_http(request: Request, error: HTTPException) -> Problem:
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        detail = f"Expected one of the paths in GET /openapi.json, found {request.url.path}."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "GET")
        detail = (
            f"Expected {allowed}, found {request.method}. GET /openapi.json says what a path takes."
        )
    else:
        detail = str(error.detail)
    return Problem(status, status.phrase.capitalize(), detail, headers=error.headers)


def _render_fault(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"][1:]) or "request"
    if error["type"] == "extra_forbidden":
        return f"{where}: expected no such query parameter"
    value = repr(error.get("input"))[:INPUT_SHOWN_CHARACTERS_MAX]
    return f"{where}: {error['msg'].lower()}, found {value}"
