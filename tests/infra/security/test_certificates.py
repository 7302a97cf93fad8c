import ssl
import stat
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest

from infra.clock import get_today
from infra.security import certificates
from infra.security.certificates import CERTIFICATE_DAYS, DAYS_LEFT_MIN, ensure_certificate
from infra.security.files import locate_authority, locate_security_folder
from infra.settings import Settings

TODAY = date(2026, 11, 25)


def go_to(day: date, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "get_today", lambda: day)


def shake_hands(trusted: Path, shown: Path, name: str) -> None:
    """A client that trusts the authority meets a server under the name; raises ssl.SSLError."""
    receiving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    receiving.load_cert_chain(shown)
    asking = ssl.create_default_context(cafile=trusted)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = receiving.wrap_bio(to_server, to_client, server_side=True)
    client = asking.wrap_bio(to_client, to_server, server_hostname=name)
    for _ in range(3):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    assert client.version() == "TLSv1.3"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "::1"])
def test_who_trusts_the_authority_trusts_this_machine(settings: Settings, name: str) -> None:
    shown = ensure_certificate(settings, "broker")
    shake_hands(locate_authority(settings), shown, name)


def test_under_another_name_or_authority_it_is_not_trusted(
    settings: Settings, tmp_path: Path
) -> None:
    shown = ensure_certificate(settings, "broker")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(locate_authority(settings), shown, "elsewhere.example")
    other = Settings(data_dir=tmp_path / "other")
    ensure_certificate(other, "broker")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(locate_authority(other), shown, "localhost")


def test_it_is_for_the_shops_other_hosts_too_and_renewed_when_they_are_others(
    settings: Settings,
) -> None:
    shown = ensure_certificate(settings, "broker")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(locate_authority(settings), shown, "kafka")
    composed = settings.model_copy(update={"shop_hosts": "kafka,10.0.0.7"})
    made = ensure_certificate(composed, "broker").read_bytes()
    for name in ("kafka", "10.0.0.7", "localhost"):
        shake_hands(locate_authority(settings), shown, name)
    assert ensure_certificate(composed, "broker").read_bytes() == made


def test_it_is_made_once_and_only_its_owner_can_read_it(settings: Settings) -> None:
    made = ensure_certificate(settings, "broker").read_bytes()
    assert ensure_certificate(settings, "broker").read_bytes() == made
    folder = locate_security_folder(settings)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [file for file in folder.rglob("*") if file.is_file()]
    names = ["authority-key.pem", "authority.pem", "broker.pem"]
    assert sorted(file.name for file in files) == names
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert b"PRIVATE" not in locate_authority(settings).read_bytes()


def test_a_start_renews_it_when_its_end_is_near(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_to(TODAY, monkeypatch)
    made = ensure_certificate(settings, "broker").read_bytes()
    end = TODAY + timedelta(days=CERTIFICATE_DAYS)
    go_to(end - timedelta(days=DAYS_LEFT_MIN), monkeypatch)
    assert ensure_certificate(settings, "broker").read_bytes() == made
    go_to(end - timedelta(days=DAYS_LEFT_MIN - 1), monkeypatch)
    assert ensure_certificate(settings, "broker").read_bytes() != made


def test_a_renewed_certificate_is_trusted_by_whoever_trusted_the_old_one(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as back:
        go_to(get_today() - timedelta(days=CERTIFICATE_DAYS - 1), back)
        made = ensure_certificate(settings, "broker").read_bytes()
    (before := tmp_path / "before.pem").write_bytes(locate_authority(settings).read_bytes())
    shown = ensure_certificate(settings, "broker")
    assert shown.read_bytes() != made
    shake_hands(before, shown, "localhost")
