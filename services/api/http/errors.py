"""Errors of the store, the lake and commands as problem documents."""

import sqlite3
from functools import singledispatch
from http import HTTPStatus
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from services.api import commands
from services.api.commands import CommandBusy, CommandError, CommandFailed, CommandTooSlow
from services.api.http.problems import Problem
from services.api.lake import tables
from services.api.lake.errors import LakeBusy, LakeError, LakeMissing, LakeTooSlow
from services.api.store.errors import (
    MirrorLoading,
    NotRecorded,
    NoWorldClock,
    StoreError,
    ViewLoading,
    ViewMissing,
    render_cause,
)

RETRY = {"Retry-After": "1"}


class Description(NamedTuple):
    title: str
    detail: str
    headers: dict[str, str] | None = None
    status: HTTPStatus = HTTPStatus.SERVICE_UNAVAILABLE


def install(app: FastAPI) -> None:
    """Answer every error of the store, the lake and a command with a problem document."""
    for kind in (StoreError, LakeError, CommandError, sqlite3.DatabaseError):
        app.add_exception_handler(kind, _handle)


async def _handle(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StoreError | LakeError | CommandError | sqlite3.DatabaseError)
    return to_problem(error).to_response(request.url.path)


def to_problem(error: StoreError | LakeError | CommandError | sqlite3.DatabaseError) -> Problem:
    """The problem of an error; a 503 where the same request may be answered later."""
    title, detail, headers, status = _describe(error)
    return Problem(status, title, detail, headers=headers)


@singledispatch
def _describe(error: Exception) -> Description:
    """The description of an error, by its class. One without a description is an internal error."""
    raise error


@_describe.register
def _describe_view_missing(error: ViewMissing) -> Description:
    return Description(
        "View withdrawn" if error.refused else "View not there yet",
        f"Expected a promoted generation of the pipeline that writes {error.view}, found "
        f"{error.refused or 'none'}{render_cause(error.trouble)}. "
        "See which pipelines run: make status.",
        RETRY,
    )


@_describe.register
def _describe_view_loading(error: ViewLoading) -> Description:
    return Description(
        "View being loaded",
        f"Expected {error.view} loaded to a marker, found {error.progress}. "
        "Try again when GET /readyz says ready.",
        RETRY,
    )


@_describe.register
def _describe_mirror_loading(error: MirrorLoading) -> Description:
    return Description(
        "Topic being loaded",
        f"Expected {error.topic} read to its end, but: {error.reason}. Try again in a second.",
        RETRY,
    )


@_describe.register
def _describe_unreadable(error: sqlite3.DatabaseError) -> Description:
    return Description(
        "Copy not readable now",
        f"Expected to read the API's copy of the log, but: {error}. Try again in a second; "
        "GET /readyz says which part fails.",
        RETRY,
    )


@_describe.register
def _describe_no_world_clock(_: NoWorldClock) -> Description:
    return Description(
        "No world clock",
        "Expected a world clock to tell the time by, found none in private.control.clock.v1. "
        "The simulator announces it: make up.",
        RETRY,
    )


@_describe.register
def _describe_not_recorded(error: NotRecorded) -> Description:
    return Description(
        "Not recorded",
        f"Expected to record the action before it begins, but: {error}. Nothing was done; try "
        "again.",
        RETRY,
    )


@_describe.register
def _describe_lake_missing(error: LakeMissing) -> Description:
    return Description(
        "Lake not there",
        f"Expected the lake to keep the events of {error.topic.name}, found {error.found}. It "
        "keeps them from the log's first record on, once it runs: make down && make up LAKE=on",
    )


@_describe.register
def _describe_lake_busy(_: LakeBusy) -> Description:
    return Description(
        "Too many in the lake",
        f"Expected at most {tables.AT_ONCE_MAX} requests to read the lake at once, found more. "
        "Try again in a second.",
        RETRY,
    )


@_describe.register
def _describe_lake_too_slow(_: LakeTooSlow) -> Description:
    return Description(
        "Too long in the lake",
        f"Expected to have read the lake within {tables.SECONDS_MAX:g} s, but had not. Ask for a "
        "shorter time, or read the tables with a tool of your own: pipelines/lake/README.md.",
    )


@_describe.register
def _describe_command_busy(_: CommandBusy) -> Description:
    return Description(
        "Another command runs",
        "Expected to run the command alone, but another one of its kind is at work. Try again once "
        "it is done.",
        RETRY,
    )


@_describe.register
def _describe_command_failed(error: CommandFailed) -> Description:
    return Description("Command refused", str(error), status=HTTPStatus.CONFLICT)


@_describe.register
def _describe_command_too_slow(_: CommandTooSlow) -> Description:
    return Description(
        "Command too slow",
        f"Expected the command to end within {commands.SECONDS_MAX:g} s, but it did not, and was "
        "ended. Look how far it came: make status.",
        status=HTTPStatus.GATEWAY_TIMEOUT,
    )
