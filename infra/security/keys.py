"""The keys that a secure broker and its first client need to connect."""

from infra.security.certificates import ensure_certificate
from infra.security.passwords import BROKER, FIRST_USERS, draw_password
from infra.settings import Settings


def ensure_keys(settings: Settings) -> None:
    """Make the broker's certificate and the first users' passwords, where they are missing."""
    ensure_certificate(settings, BROKER)
    for user in FIRST_USERS:
        draw_password(settings, user)
