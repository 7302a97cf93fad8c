"""A signature as any library for Standard Webhooks verifies it."""

from base64 import b64encode
from hashlib import sha256
from hmac import digest
from pathlib import Path

from infra.settings import Settings
from services.subscriptions.signature import derive_secret, locate_key, read_key, sign


def test_it_is_that_of_the_schemes_own_example() -> None:
    """From the documentation of Standard Webhooks."""
    headers = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_secret_follows_from_the_id_and_the_key() -> None:
    secret = derive_secret(b"key", "9f31c0d2a4b5e6f7")
    expected = b64encode(digest(b"key", b"9f31c0d2a4b5e6f7", sha256)).decode()
    assert secret == f"whsec_{expected}"
    assert derive_secret(b"key", "9f31c0d2a4b5e6f8") != secret
    assert derive_secret(b"yek", "9f31c0d2a4b5e6f7") != secret


def test_the_key_is_drawn_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    key = read_key(settings)
    assert len(key) == 32
    assert read_key(settings) == key
    assert locate_key(settings).stat().st_mode & 0o777 == 0o600
    assert read_key(Settings(data_dir=tmp_path / "other")) != key
