"""Who may act: whoever has the token, and no page of another site. All of it is recorded."""

from dataclasses import dataclass
from http import HTTPStatus
from secrets import compare_digest
from typing import Annotated

from anyio import from_thread
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope

from services.api.commands import CommandBusy, CommandError, Commands
from services.api.http.errors import to_problem
from services.api.http.problems import Problem
from services.api.http.sources import FromSources
from services.api.store.audit import UNKNOWN, Attempt, Audit, Begun, Caller

BEARER = HTTPBearer(
    auto_error=False, description="The token that `make up` prints, from the data folder."
)
OPERATOR = Caller("operator", "operator")
"""Whoever has the token of the shop."""
HIDDEN = "…"
"""What stands for a token that somebody has put into a path."""

Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


@dataclass(frozen=True)
class Actions:
    """What a request may run, recorded before it begins and before it is answered."""

    commands: Commands
    audit: Audit
    operation: str
    caller: Caller

    def run(self, target: str, *arguments: str, why: str | None = None) -> str:
        """What the command says; only in a worker thread. `target`: what it is done to.

        Raises NotRecorded, and what Commands.run raises.
        """
        attempt = Attempt(self.operation, target, self.caller, why)
        begun: list[Begun] = []
        try:
            said = self.commands.run(
                *arguments,
                before=lambda: begun.append(from_thread.run(self.audit.begin, attempt)),
            )
        except CommandBusy as error:
            from_thread.run(self.audit.refuse, attempt, to_problem(error).status)
            raise
        except Exception as error:
            for one in begun:
                from_thread.run(self.audit.end, one, _find_status(error))
            raise
        from_thread.run(self.audit.end, begun[0], HTTPStatus.OK)
        return said


def _find_status(error: Exception) -> HTTPStatus:
    if isinstance(error, CommandError):
        return to_problem(error).status
    return HTTPStatus.INTERNAL_SERVER_ERROR


async def authorize(request: Request, sources: FromSources, given: Given) -> Actions:
    """The actions, for a request that may do them. Raises Problem for any other."""
    operation, token = name_action(request.scope), sources.commands.read_token()
    try:
        _refuse_other_sites(request)
        _refuse_other_tokens(token, given)
    except Problem as problem:
        target = request.scope["path"].replace(token, HIDDEN)
        await sources.audit.refuse(Attempt(operation, target, UNKNOWN), problem.status)
        raise
    return Actions(sources.commands, sources.audit, operation, OPERATOR)


def name_action(scope: Scope) -> str:
    """What a request asks for, as the audit names it: promote-generation."""
    return str(scope["route"].name).replace("_", "-")


def _refuse_other_tokens(token: str, given: HTTPAuthorizationCredentials | None) -> None:
    if given is None or not compare_digest(given.credentials.encode(), token.encode()):
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "Token needed",
            f"Expected the token of this shop as Authorization: Bearer …, found "
            f"{'none' if given is None else 'another'}. make up prints it; the file `token` in "
            "the data folder holds it.",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _refuse_other_sites(request: Request) -> None:
    """A browser says which page a request comes from; a program says nothing."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is None or (host and origin.partition("://")[2] == host):
        return
    raise Problem(
        HTTPStatus.FORBIDDEN,
        "Another site",
        "Expected a request of this API's own pages or of a program, found one of a page of "
        f"{origin[:80]}.",
    )


Authorized = Annotated[Actions, Depends(authorize)]
