"""The shop in the terminal: the API's figures, at every width."""

import re
from io import StringIO
from threading import Event
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cli.main import build_application
from cli.watch import app
from cli.watch.app import ApiDown
from cli.watch.client import Client, Unreachable
from cli.watch.feeds import RETRY_SECONDS, Feeds
from cli.watch.screen import draw
from contracts import ALERTS
from infra.settings import Settings
from tests.cli.watch.conftest import Moments
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.showing import PIPELINES, Shop
from tests.services.writing import Writing, promote

NOBODY = "127.0.0.1:1"
TITLES = (
    "Revenue by store",
    "Best sellers of the hour",
    "Shelves below zero, empty, low",
    "Open alerts",
    "Orders",
    "Pipelines",
)


@pytest.fixture
def shop(log: MemoryLog, api: Answers) -> Shop:
    made = Shop(log)
    for pipeline in PIPELINES:
        api.ready(pipeline=pipeline)
    api.eventually("/v1/clock", lambda answer: bool(answer["world_ms"]))
    api.eventually("/v1/pipelines/analytics", lambda answer: answer["behind_world_seconds"] == 0)
    api.eventually("/v1/orders", lambda answer: len(answer["items"]) == 3)
    return made


def show(feeds: Feeds, width: int = 160, height: int | None = None) -> str:
    """What stands on a screen of this size."""
    written = StringIO()
    console = Console(file=written, width=width, height=height)
    console.print(draw(feeds, width, height))
    return written.getvalue()


def test_every_part_shows_what_the_api_says(shop: Shop, api: Answers, feeds: Feeds) -> None:
    feeds.poll()
    seen = show(feeds)
    assert all(title in seen for title in TITLES)
    assert "Mon 2 Mar 2026 12:00:00 UTC · stopped" in seen
    rows = api.json("/v1/views/public.analytics.store-sales.v1/rows", order="newest", limit=500)
    minutes = sorted({row["window_start"] for row in rows["items"]})[-5:]
    counted = [row for row in rows["items"] if row["window_start"] in minutes]
    assert f"{sum(row['receipts'] for row in counted) / 5 / 60:,.1f} receipts/s" in seen
    [best, *_] = api.json("/v1/best-sellers", top=1)["items"]
    assert f"{best['sku']}" in seen
    assert "14 shelves empty, 14 low, 1 below zero" in seen
    open_alerts = api.json("/v1/alerts", status="open")["items"]
    assert f"{len(open_alerts)} alerts open" in seen
    assert "impossible-travel" in seen
    assert "waits for the supplier" in seen
    assert all(name in seen for name in PIPELINES)
    assert "Live" in (line.strip() for line in seen.splitlines())


@pytest.mark.parametrize("width", [30, 60, 99, 100, 200])
def test_it_fits_the_terminal(shop: Shop, feeds: Feeds, width: int) -> None:
    feeds.poll()
    lines = show(feeds, width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum("Pipelines" in line for line in lines) == 1


@pytest.mark.parametrize(("width", "height"), [(80, 60), (160, 40), (160, 24)])
def test_it_is_as_high_as_the_screen(shop: Shop, feeds: Feeds, width: int, height: int) -> None:
    feeds.poll()
    assert len(show(feeds, width, height).splitlines()) <= height


def test_a_sale_is_seen(shop: Shop, api: Answers, feeds: Feeds, moments: Moments) -> None:
    feeds.poll()
    before = find_revenue(feeds)
    shop.sell(-2, version=900)
    api.ready(shop.analytics.mark(), "analytics")
    feeds.poll()
    assert find_revenue(feeds) == before  # nothing is asked before its time
    moments.now += 5
    feeds.poll()
    assert find_revenue(feeds) > before


def find_revenue(feeds: Feeds) -> float:
    match = re.search(r"revenue ([0-9,.]+) \(100 cents\)", show(feeds))
    assert match
    return float(match[1].replace(",", ""))


def test_an_unreachable_api_is_said_and_what_was_known_stays(
    shop: Shop, feeds: Feeds, moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds.poll()
    with monkeypatch.context() as patch:
        asked = []

        def refuse(_: Client, path: str) -> Any:
            asked.append(path)
            raise Unreachable("nobody")

        patch.setattr(Client, "ask", refuse)
        moments.now += 6
        feeds.poll()
        feeds.poll()
        assert len(asked) == 1  # an API that is down gets one request at a time
        moments.now += RETRY_SECONDS
        feeds.poll()
        assert len(asked) == 2
        seen = show(feeds)
        assert f"The API does not answer for {RETRY_SECONDS:.1f} s" in seen
        assert "impossible-travel" in seen
    moments.now += RETRY_SECONDS
    feeds.poll()
    assert "does not answer" not in show(feeds)


def test_a_part_without_an_answer_says_why_and_comes_by_itself(
    log: MemoryLog, api: Answers, feeds: Feeds, moments: Moments
) -> None:
    feeds.poll()
    seen = show(feeds)
    assert "Live, but not all of it" in seen
    assert ALERTS.name in str(feeds.alerts.problem)
    assert seen.count("View not there yet") == 4  # sales, best sellers, shelves, alerts: once each
    Shop(log)
    api.ready(pipeline="fraud")
    moments.now += RETRY_SECONDS
    feeds.poll()
    assert feeds.alerts.problem is None
    assert "impossible-travel" in show(feeds)


def test_what_stands_in_an_event_does_not_steer_the_terminal(
    log: MemoryLog, api: Answers, feeds: Feeds
) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    fraud.put(ALERTS, rule="refund-rate", store_id="\x1b[2J[red]", status="open")
    fraud.mark()
    promote(log, fraud)
    api.ready(pipeline="fraud")
    feeds.poll()
    seen = show(feeds)
    assert "�[2J[red]" in seen
    assert "\x1b[2J" not in seen


def test_once_prints_it_for_a_pipe(
    shop: Shop, api: Answers, current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"api_address": api.address.removeprefix("http://")}
    monkeypatch.setattr(app, "read_settings", lambda: current.model_copy(update=address))
    for arguments in (["watch", "--once"], ["watch"]):  # a pipe is no terminal
        answer = CliRunner().invoke(build_application(["watch"]), arguments)
        assert answer.exit_code == 0, answer.output
        assert all(title in answer.output for title in TITLES)
        assert "\x1b" not in answer.output


def test_once_without_an_api_says_what_to_do(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = current.model_copy(update={"api_address": NOBODY})
    monkeypatch.setattr(app, "read_settings", lambda: away)
    answer = CliRunner().invoke(build_application(["watch"]), ["watch", "--once"])
    assert isinstance(answer.exception, ApiDown)
    assert str(answer.exception) == (
        f"The API does not answer on http://{NOBODY}. Start it with: make up"
    )


def test_on_a_terminal_pictures_follow_each_other(
    shop: Shop, feeds: Feeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, ended, pictures = StringIO(), Event(), []

    def count_and_draw(*arguments: Any) -> Any:
        pictures.append(arguments)
        if len(pictures) == 2:
            ended.set()
        return draw(*arguments)

    monkeypatch.setattr(app, "draw", count_and_draw)
    monkeypatch.setattr(app, "LOOK_SECONDS", 0.01)
    console = Console(file=written, force_terminal=True, width=120, height=40)
    app.follow(feeds, console, ended)
    assert len(pictures) == 2
    assert "Pipelines" in written.getvalue()
