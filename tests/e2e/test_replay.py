"""Changed code from offset zero: the guide as it is written, then what could go wrong."""

import json
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from audit.fraud import fraud_oracle
from bench.browsers import MISSING, find_chromium
from bench.shops import CommandFailed
from cli.experiments import PROMPT, exchanges
from contracts import ALERTS as ALERT
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import admin, end_offsets, newest_ms
from infra.processes import drivers
from infra.settings import root
from infra.supervisor.parts import kill
from infra.token import read_token
from infra.wait import wait_until
from pipelines.common.generations.folders import find_checkpoint
from pipelines.common.pipeline import load
from tests.answers import FENCED, is_alike
from tests.e2e.shop import Shop, opened
from tests.guide import Reader
from tests.rooms import ROOMS
from tests.seeds import create_random
from tests.services.api.browser import Visit, chromium, visiting

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1_200)]

GUIDE = root() / "pipelines" / "REPLAY.md"
THRESHOLDS = "pipelines/fraud/thresholds.py"
ALERTS = f"/v1/views/{ALERT.name}/rows"
READY_SECONDS_MAX = 400
RELEASE_SECONDS_MAX = 60
"""The skew of a till's clock, five minutes, is over in five seconds of this world."""
READS_MIN = 200
CLIENTS = 3

Listings = list[list[int]]
"""What a client has seen: the generation of each page, by listing."""
ALERTS_MIN = 10
LIMIT = "card_sales_per_window_max"
STRICTER = f"{LIMIT}=3"
BY_MOUSE = re.compile(r"^\| \*\*(.+?)\*\* \|.*\| `(retail [^`]+)` \|$", re.MULTILINE)
"""The guide's buttons, and the commands that do the same."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with one pipeline, and much fraud: up to three Sparks run beside each other in it."""
    folder, seed = tmp_path_factory.mktemp("a shop"), create_random("a shop").getrandbits(31)
    often = {"simulator_fraud_rate": 0.02, "simulator_look_alike_rate": 0.02}
    with opened(folder, seed, "fraud", **often) as started:
        yield started


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's code, to be changed."""
    folder = tmp_path_factory.mktemp("a copy")
    for room in ROOMS:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root() / room, folder / room, ignore=unwanted)
    shutil.copy(root() / "requirements.lock", folder)
    return folder


@pytest.fixture(scope="module")
def reader(shop: Shop, copy: Path) -> Reader:
    return Reader(shop.settings, copy, code=copy)


@pytest.fixture(scope="module")
def stricter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The thresholds as the guide changes them, where an oracle looks for them."""
    written = (root() / THRESHOLDS).read_text()
    changed = tmp_path_factory.mktemp("stricter") / THRESHOLDS
    changed.parent.mkdir(parents=True)
    changed.write_text(written.replace(f"{LIMIT}: int = 5", f"{LIMIT}: int = 3"))
    assert changed.read_text() != written
    return changed.parents[2]


def test_the_guide_works_as_it_is_written(
    shop: Shop, reader: Reader, copy: Path, stricter: Path
) -> None:
    """Every command prints what the guide shows; numbers may differ."""
    await_alerts(shop, stricter)
    before = count_by_rule(shop)
    steps = [each for block in FENCED.findall(GUIDE.read_text()) for each in exchanges(block[1])]
    for command, written in steps:
        answered = reader.shell(command).replace(str(shop.settings.data_dir), "data")
        print(f"{PROMPT}{command}\n{answered}")
        assert is_alike(written, answered)
    commands = [command for command, _ in steps]
    assert [each for each in commands if each.startswith("retail replay ")] == [
        f"retail replay {what} fraud"
        for what in ("start", "status", "promote", "rollback", "prune")
    ]
    [report] = shop.settings.data_dir.glob("reports/*.json")
    [view] = json.loads(report.read_text())["views"]
    assert view["added"] > 0, "a lower threshold finds more"
    assert view["removed"] == 0
    moved = [facet for facet in view["facets"] if facet["field"] == "rule"]
    assert "card-velocity" in {facet["value"] for facet in moved}
    for facet in moved:
        assert (facet["before"] < facet["after"]) == (facet["value"] == "card-velocity")
    assert count_by_rule(shop)["card-velocity"] >= before["card-velocity"]
    assert not locate_generation(shop, 2).exists()
    assert (copy / THRESHOLDS).read_text() == (root() / THRESHOLDS).read_text()


@pytest.mark.skipif(find_chromium() is None, reason=MISSING)
def test_the_guide_works_by_mouse(shop: Shop, stricter: Path) -> None:
    """Each button does what its command does, and another page shows who is served meanwhile."""
    await_alerts(shop, stricter)
    start, _, go, back, forget = BY_MOUSE.findall(GUIDE.read_text())
    [first] = list_numbers(shop)
    with chromium() as browser, visiting_shop(browser, shop) as (alerts, replay):
        alerts.open("/alerts?rule=card-velocity")
        alerts.await_text("#cases .fresh", f"generation {first},")
        replay.open("/replay?pipeline=fraud")
        press(replay, shop, start, answer=STRICTER)
        replay.await_text("#said", "Nothing has switched")
        candidate = list_numbers(shop)[-1]
        replay.await_text("#changes", f"The code differs: {LIMIT} 5 → 3, {THRESHOLDS}")
        new = [row for row in replay.rows("#view-list .moved tbody") if row[1] == "new"]
        assert {row[3] for row in new} == {f"{LIMIT} 5 → 3"}
        press(replay, shop, go, candidate)
        replay.await_text("#said", f"generation {candidate} is read by everyone since")
        alerts.await_text("#cases .fresh", f"generation {candidate},")
        press(replay, shop, back, candidate)
        replay.await_text("#said", f"generation {first} is read by everyone again since")
        alerts.await_text("#cases .fresh", f"generation {first},")
        press(replay, shop, forget, candidate)
        replay.await_text("#said", f"generation {candidate} is forgotten")
        assert (alerts.errors, replay.errors) == ([], [])
    assert list_states(shop) == ["promoted"]


@contextmanager
def visiting_shop(browser: Browser, shop: Shop) -> Iterator[tuple[Visit, Visit]]:
    """Two tabs that wait as long as a replay takes."""
    address = shop.settings.api_url
    with visiting(browser, address) as one, visiting(browser, address) as other:
        for visit in (one, other):
            visit.page.set_default_timeout(READY_SECONDS_MAX * 1_000)
        yield one, other


def press(
    visit: Visit, shop: Shop, step: tuple[str, str], candidate: int = 2, answer: str = ""
) -> None:
    """Press the button of a step, whose dialog names the command of the step.

    The guide's candidate is generation 2.
    """
    button, command = (text.replace("2", str(candidate)) for text in step)
    visit.page.get_by_role("button", name=button, exact=True).click()
    assert visit.text("#confirmation-command") == command
    visit.page.locator("#answer").evaluate("(field, text) => { field.value = text; }", answer)
    token = visit.page.get_by_label("Token")
    if token.is_visible():
        token.fill(read_token(shop.settings))
    visit.page.locator("#confirm").click()


def test_readers_see_a_promotion_between_two_requests_and_never_half(shop: Shop) -> None:
    """The test kills a candidate at work, one at rest, and one of two that were promoted.

    Meanwhile clients page, and a record is released.
    """
    with pytest.raises(CommandFailed, match="expected one of"):
        shop.retail("replay", "start", "fraud", "--set", "mood=3")
    started = threading.Thread(
        target=shop.retail, args=("replay", "start", "fraud", "--set", STRICTER)
    )
    started.start()
    wait_until(lambda: len(find_driver_pids(shop)) == 2, "the candidate runs", READY_SECONDS_MAX)
    assert list_states(shop) == ["promoted", "catching-up"]
    kill(max(find_driver_pids(shop).items())[1])
    with pytest.raises(CommandFailed, match="has a candidate already"):
        shop.retail("replay", "start", "fraud")
    release_one(shop)
    started.join(READY_SECONDS_MAX)
    assert list_states(shop) == ["promoted", "ready"]
    kill_and_await(shop, list_numbers(shop)[-1])
    with reading(shop) as seen:
        await_reads(seen)
        shop.retail("replay", "promote", "fraud")
        await_reads(seen)
    for of_client in seen:
        generations = [generation for pages in of_client for generation in pages]
        assert all(len(set(pages)) == 1 for pages in of_client), "no listing mixes generations"
        assert generations == sorted(generations), "and none goes back"
        assert sorted(set(generations)) == list_numbers(shop)
    assert list_states(shop) == ["retired", "promoted"]
    kill_and_await(shop, create_random("a victim").choice(list_numbers(shop)))
    assert shop.verify()["fraud"]["views"][ALERT.name]["rows"] >= ALERTS_MIN


def test_a_third_generation_takes_the_place_of_the_first(shop: Shop) -> None:
    """The other generations wait until it has caught up, and then go on."""
    first, second = list_numbers(shop)
    shop.retail("replay", "start", "fraud", "--promote", "--pause")
    assert list_numbers(shop) == [second, second + 1]
    assert list_states(shop) == ["retired", "promoted"]
    assert not locate_generation(shop, first).exists()
    shop.retail("replay", "rollback", "fraud")
    assert list_states(shop) == ["promoted", "ready"]
    assert shop.get(ALERTS)["as_of"]["generation"] == second


def await_alerts(shop: Shop, stricter: Path) -> None:
    """Wait for alerts, some of them about cards, and for what lower thresholds find besides."""

    def there() -> bool:
        found = count_by_rule(shop)
        return bool(
            sum(found.values()) >= ALERTS_MIN
            and found["card-velocity"] > 0
            and find_alerts(shop, stricter) - find_alerts(shop, root())
        )

    wait_until(there, "alerts", READY_SECONDS_MAX)


def find_alerts(shop: Shop, code: Path) -> set[tuple[str, ...]]:
    """The keys of those that the oracle finds by the thresholds of this code, of intervals that are
    over: one that goes on may yet bring what any threshold calls for."""
    client, topics = admin(shop.settings), [topic.name for topic in load("fraud").inputs]
    now = EPOCH + max(newest_ms(client, topics).values()) * MILLISECOND
    found = fraud_oracle(shop.settings, end_offsets(client, topics), code).views()[ALERT.name]
    over = [row for row in found if row["interval_end"] <= now]
    return {tuple(str(row[name]) for name in ALERT.key) for row in over}


def count_by_rule(shop: Shop) -> dict[str, int]:
    """How many of the alerts that are served are of each rule."""
    counts: dict[str, int] = {"card-velocity": 0}
    cursor = ""
    while True:
        page = shop.get(f"{ALERTS}?limit=100{cursor}")
        for alert in page["items"]:
            counts[alert["rule"]] = counts.get(alert["rule"], 0) + 1
        if page["next"] is None:
            return counts
        cursor = f"&cursor={page['next']}"


def list_generations(shop: Shop) -> list[dict[str, Any]]:
    """Every generation of fraud that there is, as `retail replay status` tells."""
    found = json.loads(shop.retail("replay", "status", "fraud", "--json"))["generations"]
    return list(found)


def list_states(shop: Shop) -> list[str]:
    return [one["state"] for one in list_generations(shop)]


def list_numbers(shop: Shop) -> list[int]:
    return [one["number"] for one in list_generations(shop)]


def locate_generation(shop: Shop, number: int) -> Path:
    return shop.settings.data_dir / "pipelines" / "fraud" / f"g{number}"


def find_driver_pids(shop: Shop) -> dict[int, int]:
    """The process that runs each generation of fraud, by number, once its engine is there."""
    running = drivers(shop.pid("pipelines"))
    return {
        int(name.removeprefix("fraud/")): driver.pid
        for name, driver in running.items()
        if name.startswith("fraud/")
    }


def kill_and_await(shop: Shop, number: int) -> None:
    """Kill the process that runs the generation; return when it has gone on."""
    before = find_last_batch(shop, number)
    running = find_driver_pids(shop)
    assert len(running) == 2
    kill(running[number])
    wait_until(
        lambda: find_last_batch(shop, number) > before + 1,
        "whoever was killed goes on",
        READY_SECONDS_MAX,
    )


def find_last_batch(shop: Shop, number: int) -> int:
    """The last batch that the generation of fraud has finished."""
    return find_checkpoint(shop.settings, "fraud", number).newest_finished()


def release_one(shop: Shop) -> None:
    """Let a receipt count that came beyond the horizon, once no copy of it may come in time."""
    one = shop.too_late()
    place = f"{one['topic']}/{one['partition']}/{one['offset']}"
    said: list[str] = []

    def released() -> bool:
        try:
            said.append(shop.retail("quarantine", "release", place, "--because", "a test"))
        except CommandFailed as refused:
            if "may still come in time" not in str(refused):
                raise
        return bool(said)

    wait_until(released, "it may be released", RELEASE_SECONDS_MAX)
    assert "Released" in said[0]


def await_reads(seen: Sequence[Listings]) -> None:
    """Wait until each client has read on for a while."""
    before = [len(own) for own in seen]
    wait_until(
        lambda: all(
            len(own) > so_far + READS_MIN for own, so_far in zip(seen, before, strict=True)
        ),
        "each client reads on",
        READY_SECONDS_MAX,
    )


@contextmanager
def reading(shop: Shop) -> Iterator[Sequence[Listings]]:
    """Clients that list alerts page by page, and what each of them has seen."""
    seen: list[Listings] = [[] for _ in range(CLIENTS)]
    began = time.monotonic()
    stop, trouble = threading.Event(), list[Exception]()

    def served_by() -> list[int]:
        pages: list[Any] = [shop.get(f"{ALERTS}?limit=2")]
        while pages[-1]["next"] and len(pages) < 3:
            pages.append(shop.get(f"{ALERTS}?limit=2&cursor={pages[-1]['next']}"))
        return [page["as_of"]["generation"] for page in pages]

    def read(own: Listings) -> None:
        try:
            while not stop.is_set():
                own.append(served_by())
        except Exception as error:  # of the thread: it is raised below
            trouble.append(error)

    threads = [threading.Thread(target=read, args=(own,)) for own in seen]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    requests = sum(len(pages) for own in seen for pages in own)
    print(f"{requests / (time.monotonic() - began):.0f} requests/s")
    assert trouble == []
