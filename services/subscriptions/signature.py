"""Signatures by the scheme of Standard Webhooks: HMAC-SHA256 over id, time and body.

A secret is derived from the subscription's id and a key in the data folder, so it is stored
nowhere: no topic, no log and no other file holds it.
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path

from infra.security.files import locate_security_folder, make_folder, write_once
from infra.settings import Settings

KEY_BYTES = 32
PREFIX = "whsec_"


def locate_key(settings: Settings) -> Path:
    return locate_security_folder(settings) / "web-hooks.key"


def read_key(settings: Settings) -> bytes:
    """The key of this data folder; the first call draws it. Only the file's owner can read it."""
    file = locate_key(settings)
    if not file.exists():
        make_folder(file.parent)
        write_once(file, secrets.token_hex(KEY_BYTES) + "\n")
    return bytes.fromhex(file.read_text(encoding="utf-8").strip())


def derive_secret(key: bytes, subscription_id: str) -> str:
    """The secret of a subscription, as its receiver is given it."""
    return PREFIX + b64encode(_compute(key, subscription_id.encode())).decode()


def sign(secret: str, event_id: str, at_seconds: int, body: bytes) -> Mapping[str, str]:
    """The headers that sign a body at a moment, in seconds of 1970."""
    signed = f"{event_id}.{at_seconds}.".encode() + body
    signature = _compute(b64decode(secret.removeprefix(PREFIX)), signed)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(at_seconds),
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }


def _compute(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()
