"""What ends while a secure API runs is renewed, and whoever uses it does not notice."""

import ssl
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from infra.clock import get_today
from infra.security import certificates
from infra.security.certificates import CERTIFICATE_DAYS, DAYS_LEFT_MIN, ensure_certificate
from infra.security.files import locate_authority
from infra.security.tokens import DAY_MS, DAYS, Role, ensure_tokens, list_tokens
from infra.settings import Settings
from services.api.__main__ import Renewal
from services.api.http.server import create_context

NOW_MS = 1_795_600_000_000


@pytest.fixture
def shop(tmp_path: Path) -> Settings:
    secure = Settings(data_dir=tmp_path, secure=True)
    ensure_tokens(secure, NOW_MS)
    ensure_certificate(secure, "api")
    return secure


def renew(shop: Settings, context: ssl.SSLContext, now_ms: int) -> None:
    """One round of the thread."""
    renewal = Renewal(shop, context, lambda: now_ms)
    renewal.stop()
    renewal.run_once()


def read_shown(shop: Settings, context: ssl.SSLContext) -> bytes | None:
    """The certificate that a new connection is shown, which its client trusts."""
    asking = ssl.create_default_context(cafile=locate_authority(shop))
    asking.verify_flags &= ~ssl.VERIFY_X509_STRICT
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = asking.wrap_bio(to_client, to_server, server_hostname="localhost")
    for _ in range(3):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return client.getpeercert(binary_form=True)


@pytest.mark.parametrize(("days_left", "is_new"), [(DAYS_LEFT_MIN, False), (29, True), (1, True)])
def test_new_connections_are_shown_a_new_certificate_before_the_old_one_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days_left: int, is_new: bool
) -> None:
    shop = Settings(data_dir=tmp_path, secure=True)
    made = get_today() - timedelta(days=CERTIFICATE_DAYS - days_left)
    with monkeypatch.context() as then:
        then.setattr(certificates, "get_today", lambda: made)
        context = create_context(ensure_certificate(shop, "api"))
    before = read_shown(shop, context)
    renew(shop, context, NOW_MS)
    assert (read_shown(shop, context) != before) == is_new


def test_tokens_of_the_shop_are_drawn_anew_when_they_are_over(shop: Settings) -> None:
    context = create_context(ensure_certificate(shop, "api"))
    first = {token.secret for token in list_tokens(shop)}
    end_ms = NOW_MS + DAYS * DAY_MS
    renew(shop, context, end_ms - 1)
    assert {token.secret for token in list_tokens(shop)} == first
    renew(shop, context, end_ms)
    renewed = list_tokens(shop)
    assert {token.name for token in renewed} == {role.value for role in Role}
    assert not {token.secret for token in renewed} & first
    assert not any(token.is_expired(end_ms) for token in renewed)
