"""What a secure broker and the first client need before they can talk."""

from infra.security.certificates import ensure_certificate
from infra.security.passwords import BROKER, FIRST_USERS, draw_password
from infra.settings import Settings


def ensure_keys(settings: Settings) -> None:
    """Make what is missing of the broker's certificate and of the first users' passwords."""
    ensure_certificate(settings, BROKER)
    for user in FIRST_USERS:
        draw_password(settings, user)
