"""The commands about keys and permissions."""

import json
from functools import partial

import pytest

from infra.security.certificates import ensure_keys
from infra.security.files import locate_certificate
from infra.settings import Settings, read_settings
from ops.cli.security import NotSecure
from tests.ops.cli.commands import run_command

run = partial(run_command, "security")


def test_certificates_are_renewed_and_it_is_said_what_to_do_next(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECURE", "on")
    read_settings.cache_clear()
    ensure_keys(current)
    before = locate_certificate(current, "broker").read_bytes()
    said = run("renew")
    assert "broker" in said
    assert "make down && make up" in said
    assert locate_certificate(current, "broker").read_bytes() != before


def test_a_shop_that_is_not_secure_has_none_to_renew(current: Settings) -> None:
    with pytest.raises(NotSecure, match="make up SECURE=on"):
        run("renew")


def test_who_may_do_what_is_shown_for_people_and_for_programs(current: Settings) -> None:
    told = json.loads(run("access", "--json"))
    assert told["inventory"]["writes"] == [
        "private.control.book.v1",
        "private.control.generation.v1",
        "private.control.marker.v1",
        "public.inventory.stock-level.v1",
    ]
    assert "public.pricing.price-change.v1" not in told["inventory"]["reads"]
    shown = run("access").splitlines()
    assert any(line.split() == ["loyalty", "reads", "public.sales.receipt.v1"] for line in shown)
