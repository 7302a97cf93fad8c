"""Changed code from offset zero: the guide as it is written, then what could go wrong."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infra.settings import root
from tests.e2e.shop import CommandFailed, Shop, kill, opened
from tests.guide import Reader, blocks
from tests.processes import engines
from tests.seeds import drawn
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1_200)]

GUIDE = root() / "pipelines" / "REPLAY.md"
ALERTS = "/v1/views/public.fraud.alert.v1/rows"
READY_SECONDS_MAX = 400
READS_MIN = 200
ALERTS_MIN = 10
STRICTER = "card_sales_per_window_max=3"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with two pipelines: up to three Sparks run beside each other in here."""
    folder, seed = tmp_path_factory.mktemp("a shop"), drawn("a shop").getrandbits(31)
    with opened(folder, seed, "inventory,fraud") as started:
        yield started


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's code, to be changed."""
    folder = tmp_path_factory.mktemp("a copy")
    for room in ("contracts", "generators", "infra", "pipelines", "services", "tests"):
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root() / room, folder / room, ignore=unwanted)
    return folder


@pytest.fixture(scope="module")
def reader(shop: Shop, copy: Path) -> Reader:
    return Reader(shop.where, copy, code=copy)


def test_the_guide_works_as_it_is_written(shop: Shop, reader: Reader, copy: Path) -> None:
    alerts_come(shop)
    look, change, replay, switch, undo = blocks(GUIDE)["sh"]
    assert '"rule":' in reader.shell(look) or '"items":[]' in reader.shell(look)
    assert "the code on disk differs" in reader.shell(change)
    before = rules(shop)
    told = reader.shell(replay)
    assert "generation 2 of fraud" in told
    assert "Nothing has switched" in told
    [report] = shop.where.data_dir.glob("reports/*.json")
    [view] = json.loads(report.read_text())["views"]
    moved = {facet["value"] for facet in view["facets"] if facet["field"] == "rule"}
    assert view["added"] > 0, "a lower threshold finds more"
    assert view["removed"] == 0
    for facet in view["facets"]:
        if facet["field"] == "rule":
            assert (facet["before"] < facet["after"]) == (facet["value"] == "card-velocity")
    assert "card-velocity" in moved
    switched = reader.shell(switch)
    assert "generation 2 is read by everyone" in switched
    assert "generation 1 is read by everyone again" in switched
    assert rules(shop)["card-velocity"] >= before["card-velocity"]
    assert "generation 2 is forgotten" in reader.shell(undo)
    assert not (shop.where.data_dir / "pipelines" / "fraud" / "g2").exists()


def test_readers_see_a_promotion_between_two_requests_and_never_half(shop: Shop) -> None:
    """A candidate that was killed while it caught up; a client that pages across the switch."""
    with pytest.raises(CommandFailed, match="expected one of"):
        shop.retail("replay", "start", "fraud", "--set", "mood=3")
    started = threading.Thread(
        target=shop.retail, args=("replay", "start", "fraud", "--set", STRICTER)
    )
    started.start()
    wait_until(lambda: candidate_pid(shop) is not None, "the candidate runs", READY_SECONDS_MAX)
    pid = candidate_pid(shop)
    assert pid is not None
    kill(pid)
    with pytest.raises(CommandFailed, match="has a candidate already"):
        shop.retail("replay", "start", "fraud")
    started.join(READY_SECONDS_MAX)
    assert states(shop)[-1] == "ready"
    with reading(shop) as seen:
        wait_until(lambda: len(seen) > READS_MIN, "a client reads", READY_SECONDS_MAX)
        shop.retail("replay", "promote", "fraud")
        so_far = len(seen)
        wait_until(lambda: len(seen) > so_far + READS_MIN, "it reads on", READY_SECONDS_MAX)
    generations = [generation for pages in seen for generation in pages]
    assert all(len(set(pages)) == 1 for pages in seen), "no listing mixes generations"
    assert generations == sorted(generations), "and none goes back"
    assert len(set(generations)) == 2
    assert states(shop) == ["retired", "promoted"]


def test_unchanged_code_replayed_says_exactly_what_is_served(shop: Shop) -> None:
    found = json.loads(shop.retail("replay", "verify", "--all", "--json").splitlines()[-1])
    assert {one["pipeline"] for one in found["replays"]} == set(shop.where.pipeline_names)
    assert all(one["empty"] and one["records"] > 0 for one in found["replays"])
    assert all(view["before"] > 0 for one in found["replays"] for view in one["views"])


def alerts_come(shop: Shop) -> None:
    wait_until(lambda: sum(rules(shop).values()) >= ALERTS_MIN, "alerts", READY_SECONDS_MAX)


def rules(shop: Shop) -> dict[str, int]:
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


def states(shop: Shop) -> list[str]:
    found = json.loads(shop.retail("replay", "status", "fraud", "--json"))["generations"]
    return [one["state"] for one in found]


def candidate_pid(shop: Shop) -> int | None:
    """The process that runs a later generation of fraud, once its engine is there."""
    for engine in engines(shop.pid("pipelines")):
        driver = engine.parent()
        words = driver.cmdline() if driver else []
        if driver and any(word.startswith("fraud/") and word != "fraud/1" for word in words):
            return driver.pid
    return None


@contextmanager
def reading(shop: Shop) -> Iterator[list[list[int]]]:
    """A client that lists alerts page by page; what it saw: each page's generation, by listing."""
    seen: list[list[int]] = []
    stop, trouble = threading.Event(), list[Exception]()

    def listing() -> list[int]:
        pages: list[Any] = [shop.get(f"{ALERTS}?limit=2")]
        while pages[-1]["next"] and len(pages) < 3:
            pages.append(shop.get(f"{ALERTS}?limit=2&cursor={pages[-1]['next']}"))
        return [page["as_of"]["generation"] for page in pages]

    def read() -> None:
        try:
            while not stop.is_set():
                seen.append(listing())
        except Exception as error:  # of the thread: it is raised below
            trouble.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
    assert trouble == []
