"""The secure profile: a token names the caller, and its role decides what the API answers."""

from base64 import b64decode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from math import ceil
from secrets import compare_digest

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.security.tokens import Role, Token
from services.api.http.authority import CALLER, hide, name_action
from services.api.http.limits import BODIES_UNDER, LOOKUPS_UNDER
from services.api.http.parameters import Profile
from services.api.http.problems import respond
from services.api.problem import Problem
from services.api.store.audit import UNKNOWN, Attempt, Audit, Bucket, Caller
from services.times import render_instant

OPEN = ("/healthz", "/readyz")
"""The paths without a token: a platform asks whether the process works, and is ready."""
FOR_OPERATORS = ("/v1/audit",)
READS = ("GET", "HEAD")
BUCKETS_MAX = 256  # more than there are tokens, so that none in use is forgotten


class Guard:
    """Passes on a request that has a token of the needed role, with its caller in the scope."""

    def __init__(self, app: ASGIApp, profile: Profile, audit: Audit) -> None:
        self._app = app
        self._profile = profile
        self._audit = audit
        at_once, per_second = profile.requests_at_once_max, profile.requests_per_second_max
        self._find_bucket = lru_cache(BUCKETS_MAX)(lambda _: Bucket(at_once, per_second))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (needed := find_role(scope)) is None:
            await self._app(scope, receive, send)
            return
        tokens = self._profile.list_tokens()
        token = find_token(tokens, read_secret(Request(scope)))
        caller = self._identify(token)
        refusal = self._find_refusal(scope, needed, token, caller)
        if refusal is None:
            scope[CALLER] = caller
            await self._app(scope, receive, send)
            return
        target = hide(scope["path"], (token.secret for token in tokens))
        await self._audit.refuse(Attempt(name_action(scope), target, caller), refusal.status)
        await respond(refusal, scope["path"])(scope, receive, send)

    def _identify(self, token: Token | None) -> Caller:
        if token is None or token.is_expired(self._profile.find_wall_ms()):
            return UNKNOWN
        return Caller(token.name, token.role)

    def _find_refusal(
        self, scope: Scope, needed: Role, token: Token | None, caller: Caller
    ) -> Problem | None:
        wait_seconds = self._find_bucket(caller.name).take()
        if wait_seconds:
            return _describe_rate(self._profile.requests_per_second_max, caller, wait_seconds)
        if caller.role is None:
            return _describe_unknown(scope, needed, token)
        if not Role(caller.role).may(needed):
            return _describe_role(needed, caller)
        return None


def find_role(scope: Scope) -> Role | None:
    """The role that a request needs; None for an open path. An unknown path needs the highest."""
    if scope["path"] in OPEN:
        return None
    if is_read(scope):
        return Role.OPERATOR if scope["path"] in FOR_OPERATORS else Role.READER
    return Role.PUBLISHER if scope["path"].startswith(BODIES_UNDER) else Role.OPERATOR


def is_read(scope: Scope) -> bool:
    """Whether a request changes nothing: a registry's client looks up a schema by POST."""
    method, path = scope["method"], scope["path"]
    return method in READS or (method == "POST" and path.startswith(LOOKUPS_UNDER))


def read_secret(request: Request) -> str:
    """The token of a request; empty where it has none.

    A browser cannot send a header of ours with a typed address or with an event stream. It asks its
    user for a name and a password, and sends these with each request to the site. So a read may
    have its token as the password. A write may not: the browser sends the password with requests
    from other sites, too.
    """
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    if scheme.lower() == "basic" and is_read(request.scope):
        try:
            return b64decode(credentials.strip(), validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return ""


def find_token(tokens: Sequence[Token], secret: str) -> Token | None:
    """The token with the secret. The time that the search takes reveals nothing about any token."""
    digest, match = _digest(secret), None
    for token in tokens:
        if compare_digest(digest, _digest(token.secret)):
            match = token
    return match


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def _describe_unknown(scope: Scope, needed: Role, token: Token | None) -> Problem:
    basic = 'Basic realm="retail", ' if is_read(scope) else ""
    offered = "none that is known"
    if token is not None:
        offered = f"one that was valid until {render_instant(token.expires_at_ms)}"
    return Problem(
        HTTPStatus.UNAUTHORIZED,
        "Token needed",
        f"Expected a token of the role {needed} or operator as Authorization: Bearer …, found "
        f"{offered}. The folder `tokens` of the data folder holds them; "
        "retail security token add makes one.",
        headers={"WWW-Authenticate": f"{basic}Bearer"},
    )


def _describe_role(needed: Role, caller: Caller) -> Problem:
    return Problem(
        HTTPStatus.FORBIDDEN,
        "Another role needed",
        f"Expected a token of the role {needed} or operator, found {caller.name} with the role "
        f"{caller.role}. Ask with another token; retail security token add makes one.",
    )


def _describe_rate(per_second_max: float, caller: Caller, wait_seconds: float) -> Problem:
    by_whom = "without a valid token" if caller.role is None else f"with the token {caller.name}"
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many requests",
        f"Expected at most {per_second_max:g} requests a second {by_whom}, found more. Ask less "
        "often.",
        headers={"Retry-After": str(ceil(wait_seconds))},
    )
