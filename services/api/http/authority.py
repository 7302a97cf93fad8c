"""Actions need the token, and no page of another site may ask for one. The audit records them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from secrets import compare_digest
from typing import Annotated

from anyio import from_thread
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.routing import Match, Route
from starlette.types import Scope

from contracts import Row
from services.api.commands import CommandBusy, Commands
from services.api.http.limits import refuse_other_sites
from services.api.http.parameters import FromSources, Sources
from services.api.problem import Problem
from services.api.store.audit import UNKNOWN, Attempt, Audit, Caller

BEARER = HTTPBearer(
    auto_error=False,
    description="The token that `make up` prints, from the data folder; with SECURE=on one of the "
    "role that the route needs.",
)
OPERATOR = Caller("operator", "operator")
"""The caller who has the token of the shop."""
CALLER = "retail.caller"
"""The key of the caller in a request's scope; only the secure profile sets it."""
NO_ACTION = "none"  # no route has the path
OF_WHO_ASKS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
HIDDEN = "…"
"""Replaces a token in a path."""

Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


@dataclass(frozen=True)
class Actions:
    """The commands that a request may run. The audit records the begin and the end of each."""

    commands: Commands
    audit: Audit
    operation: str
    caller: Caller

    def run(self, target: str, *arguments: str, why: str | None = None) -> str:
        """Run the command on the target and return its output; call it in a worker thread.

        Raises Problem.
        """
        attempt = Attempt(self.operation, target, self.caller, why)
        begun: list[Row] = []
        try:
            output = self.commands.run(
                *arguments, before=lambda: begun.append(from_thread.run(self.audit.begin, attempt))
            )
        except CommandBusy as error:
            from_thread.run(self.audit.refuse, attempt, error.status)
            raise
        except Exception as error:
            failed = HTTPStatus.INTERNAL_SERVER_ERROR
            for row in begun:
                status = error.status if isinstance(error, Problem) else failed
                from_thread.run(self.audit.end, row, status)
            raise
        from_thread.run(self.audit.end, begun[0], HTTPStatus.OK)
        return output


async def authorize(request: Request, sources: FromSources, given: Given) -> Actions:
    """The actions of a request that may run them. Raises Problem for any other request."""
    caller = find_caller(request)
    async with record_refusals(request, sources):
        refuse_other_sites(request)
        if caller is None:
            secret = "" if given is None else given.credentials
            refuse_other_tokens(sources.commands.read_token(), secret)
    operation = name_action(request.scope)
    return Actions(sources.commands, sources.audit, operation, caller or OPERATOR)


@asynccontextmanager
async def record_refusals(request: Request, sources: Sources) -> AsyncIterator[None]:
    """Record a refusal within the block that is due to the caller or the calling site."""
    try:
        yield
    except Problem as problem:
        if problem.status in OF_WHO_ASKS:
            if sources.profile is None:
                secrets = [sources.commands.read_token()]
            else:
                secrets = [token.secret for token in sources.profile.list_tokens()]
            target = hide(request.scope["path"], secrets)
            attempt = Attempt(name_action(request.scope), target, find_caller(request) or UNKNOWN)
            await sources.audit.refuse(attempt, problem.status)
        raise


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text with HIDDEN in place of each secret."""
    for each in secrets:
        text = text.replace(each, HIDDEN)
    return text


def find_caller(request: Request) -> Caller | None:
    """The caller of the request; None outside of the secure profile, which alone asks for it."""
    caller: Caller | None = request.scope.get(CALLER)
    return caller


def name_action(scope: Scope) -> str:
    """The action of a request, as the audit names it: promote-generation."""
    routes: Iterable[Route] = scope["app"].routes
    route = scope.get("route") or next(
        (route for route in routes if route.matches(scope)[0] is Match.FULL), None
    )
    return NO_ACTION if route is None else str(route.name).replace("_", "-")


def refuse_other_tokens(token: str, secret: str) -> None:
    """Raise Problem unless the secret of a request is the shop's token."""
    if not compare_digest(secret.encode(), token.encode()):
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "Token needed",
            f"Expected the token of this shop as Authorization: Bearer …, found "
            f"{'another' if secret else 'none'}. make up prints it; the file `token` in the data "
            "folder holds it.",
            headers={"WWW-Authenticate": "Bearer"},
        )


Authorized = Annotated[Actions, Depends(authorize)]
