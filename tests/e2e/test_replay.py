"""Changed code from offset zero: the guide as written, then failures."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import ALERTS as ALERT
from infra.settings import locate_root
from infra.supervisor.parts import kill
from infra.wait import wait_until
from ops.bench.shops import CommandFailed
from ops.cli.experiments import PROMPT, parse_exchanges
from tests.answers import FENCED, is_alike
from tests.e2e.alerts import (
    ALERTS,
    ALERTS_MIN,
    LIMIT,
    STRICTER,
    THRESHOLDS,
    await_alerts,
    await_reads,
    count_by_rule,
    reading,
)
from tests.e2e.generations import (
    READY_SECONDS_MAX,
    find_driver_pids,
    kill_and_await,
    list_numbers,
    list_states,
    locate_generation,
    press,
    release_one,
    visiting_shop,
)
from tests.e2e.shop import Shop, opened
from tests.guide import Reader
from tests.rooms import ROOMS
from tests.seeds import create_random
from tests.services.api.browser import MISSING, chromium, find_chromium

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(1_200)]

GUIDE = locate_root() / "pipelines" / "REPLAY.md"
BY_MOUSE = re.compile(r"^\| \*\*(.+?)\*\* \|.*\| `(retail [^`]+)` \|$", re.MULTILINE)
"""The guide's buttons, and the commands that do the same."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with one pipeline, and much fraud: up to three Sparks run beside each other in it."""
    folder, seed = tmp_path_factory.mktemp("a shop"), create_random("a shop").getrandbits(31)
    often = {"simulator_fraud_rate": 0.05}
    with opened(folder, seed, "fraud", **often) as started:
        yield started


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's code, to be changed."""
    folder = tmp_path_factory.mktemp("a copy")
    for room in ROOMS:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(locate_root() / room, folder / room, ignore=unwanted)
    return folder


@pytest.fixture(scope="module")
def reader(shop: Shop, copy: Path) -> Reader:
    return Reader(shop.settings, copy, code=copy)


@pytest.fixture(scope="module")
def stricter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The thresholds as the guide changes them, in a folder that an oracle can read."""
    written = (locate_root() / THRESHOLDS).read_text()
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
    steps = [
        each for block in FENCED.findall(GUIDE.read_text()) for each in parse_exchanges(block[1])
    ]
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
    assert (copy / THRESHOLDS).read_text() == (locate_root() / THRESHOLDS).read_text()


@pytest.mark.skipif(find_chromium() is None, reason=MISSING)
def test_the_guide_works_by_mouse(shop: Shop, stricter: Path) -> None:
    """Each button does what its command does, and another page shows the served generation."""
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
        assert "new" in {row[1] for row in replay.rows("#view-list .moved tbody")}
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


def test_readers_see_a_promotion_between_two_requests_and_never_half(shop: Shop) -> None:
    """The test kills a candidate at work, one at rest, and one of two that were promoted.

    Meanwhile clients page, and a record is released.
    """
    with pytest.raises(CommandFailed, match="expected one of"):
        shop.run_retail("replay", "start", "fraud", "--set", "mood=3")
    started = threading.Thread(
        target=shop.run_retail, args=("replay", "start", "fraud", "--set", STRICTER)
    )
    started.start()
    wait_until(lambda: len(find_driver_pids(shop)) == 2, "the candidate runs", READY_SECONDS_MAX)
    assert list_states(shop) == ["promoted", "catching-up"]
    kill(max(find_driver_pids(shop).items())[1])
    with pytest.raises(CommandFailed, match="has a candidate already"):
        shop.run_retail("replay", "start", "fraud")
    release_one(shop)
    started.join(READY_SECONDS_MAX)
    assert list_states(shop) == ["promoted", "ready"]
    kill_and_await(shop, list_numbers(shop)[-1])
    with reading(shop) as seen:
        await_reads(seen)
        shop.run_retail("replay", "promote", "fraud")
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
    first, second = list_numbers(shop)
    shop.run_retail("replay", "start", "fraud", "--promote")
    assert list_numbers(shop) == [second, second + 1]
    assert list_states(shop) == ["retired", "promoted"]
    assert not locate_generation(shop, first).exists()
    shop.run_retail("replay", "rollback", "fraud")
    assert list_states(shop) == ["promoted", "ready"]
    assert shop.get(ALERTS)["as_of"]["generation"] == second
    assert list_numbers(shop) == [second, second + 1]
    _, *rows = map(str.split, shop.run_retail("replay", "status", "fraud").splitlines())
    assert [row[:3] for row in rows] == [
        ["fraud", str(second), "promoted"],
        ["fraud", str(second + 1), "ready"],
    ]
