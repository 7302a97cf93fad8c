"""A password for each service, in a file of its own.

The files are properties: Java reads a password from its file where it uses it, so that no other
file needs to hold it.
"""

import secrets
from pathlib import Path

from infra.errors import UserError
from infra.security.files import locate_security_folder, make_folder, write_once
from infra.settings import OPERATOR, Settings

MECHANISM = "SCRAM-SHA-512"
"""The SASL mechanism: a user proves to Kafka that it knows its password, without sending it."""
BROKER = "broker"
"""The user as which the broker logs in to itself, and the common name of its certificate."""
FIRST_USERS = (BROKER, OPERATOR)
"""The users that Kafka gets before its first start; the operator adds the others."""
BYTES = 24
PROPERTY = "password"


def locate_password(settings: Settings, service: str) -> Path:
    return locate_security_folder(settings) / "passwords" / f"{service}.properties"


def draw_password(settings: Settings, service: str) -> str:
    """The password of the service; the first call draws it. Only its owner can read the file."""
    file = locate_password(settings, service)
    if not file.exists():
        make_folder(locate_security_folder(settings))
        make_folder(file.parent)
        write_once(file, f"{PROPERTY}={secrets.token_urlsafe(BYTES)}\n")
    return read_password(settings, service)


def read_password(settings: Settings, service: str) -> str:
    """The password of the service. Raises UserError where there is none."""
    file = locate_password(settings, service)
    try:
        return file.read_text(encoding="utf-8").strip().removeprefix(f"{PROPERTY}=")
    except FileNotFoundError:
        raise UserError(
            f"{file} should hold the password of {service}, but is not there. "
            "Draw passwords with: make up SECURE=on"
        ) from None
