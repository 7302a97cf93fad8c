"""retail quarantine release: where the release is, who counts it, one at a time."""

from functools import partial

import pytest

from contracts import RECEIPTS
from infra.errors import UserError
from infra.settings import Settings
from ops.cli import quarantine
from ops.cli.options import lock_home
from tests.ops.cli.commands import run_command
from tests.services.quarantine.publishing import HOUR_MS, Place, hours, publish, stop_world

HAPPENED = RECEIPTS.examples[0]["event_time"]


@pytest.fixture
def shop(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings under which the commands run: those of the broker."""
    monkeypatch.setattr(quarantine, "read_settings", lambda: kafka)
    return kafka


run_quarantine = partial(run_command, "quarantine")


def render_place(place: Place) -> str:
    return "/".join(map(str, place))


def test_a_release_says_where_it_is_and_who_counts_it(shop: Settings) -> None:
    place = publish(shop, RECEIPTS, 4 * HOUR_MS, event_id="to-be-released")
    stop_world(shop, HAPPENED + hours(10))
    publish(shop, RECEIPTS, event_id="later", event_time=HAPPENED + hours(9))
    printed = run_quarantine(
        "release", render_place(place), "--because", "the till had lost its line"
    )
    assert f"wraps {render_place(place)}" in printed
    assert "public.quarantine.release.v1/" in printed


def test_one_release_at_a_time(shop: Settings) -> None:
    place = publish(shop, RECEIPTS, 4 * HOUR_MS, event_id="another")
    with (
        lock_home(shop.data_dir / "quarantine", "releasing a record of"),
        pytest.raises(UserError, match="releasing a record of"),
    ):
        run_quarantine("release", render_place(place), "--because", "it is real")


@pytest.mark.parametrize("text", ["receipt/0/1", f"{RECEIPTS.name}/0", f"{RECEIPTS.name}/a/1"])
def test_what_is_no_place_says_what_one_is(shop: Settings, text: str) -> None:
    with pytest.raises(UserError, match="Expected TOPIC/PARTITION/OFFSET"):
        run_quarantine("release", text, "--because", "it is real")
