"""Who may act: whoever has the token, and no page of another site."""

from http import HTTPStatus
from secrets import compare_digest
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from services.api.commands import Commands
from services.api.http.problems import Problem
from services.api.http.sources import FromSources

BEARER = HTTPBearer(
    auto_error=False, description="The token that `make up` prints, from the data folder."
)

Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


def authorize(request: Request, sources: FromSources, given: Given) -> Commands:
    """The commands, for a request that may run them. Raises Problem for any other."""
    _refuse_other_sites(request)
    token = sources.commands.read_token()
    if given is None or not compare_digest(given.credentials.encode(), token.encode()):
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "Token needed",
            f"Expected the token of this shop as Authorization: Bearer …, found "
            f"{'none' if given is None else 'another'}. make up prints it; the file `token` in "
            "the data folder holds it.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return sources.commands


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


Authorized = Annotated[Commands, Depends(authorize)]
