"""What of a secure shop ends soon, and what somebody has to do about it."""

from collections.abc import Iterator
from datetime import UTC, datetime, time

from infra.security.certificates import DAYS_LEFT_MIN, list_certificates
from infra.security.tokens import End, Role, list_tokens
from infra.settings import Settings

TOKEN_DAYS_LEFT_MIN = 7
RENEWS_ITSELF = "api"
"""The component that takes a new certificate while it runs."""


def list_ends(settings: Settings) -> Iterator[End]:
    """The ends of all tokens and certificates that the shop does not renew by itself."""
    for token in list_tokens(settings):
        if token.name not in {*Role}:
            remedy = f"retail security token add {token.name} --role {token.role}"
            yield End("token", token.name, token.expires_at_ms, TOKEN_DAYS_LEFT_MIN, remedy)
    for name, day in list_certificates(settings).items():
        if name != RENEWS_ITSELF:
            at_ms = round(datetime.combine(day, time(), UTC).timestamp() * 1000)
            yield End("certificate", name, at_ms, DAYS_LEFT_MIN, "make down && make up")
