"""Promotion: the new generation is loaded beside the old, then served by all routes at once."""

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from contracts import STOCK_LEVELS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.writing import Writing, invalidate, promote

VIEW = f"/v1/views/{STOCK_LEVELS.name}"


def is_made_by(generation: int) -> Callable[[Any], bool]:
    """Whether an answer is one of this generation."""
    return lambda answer: bool(answer["as_of"]["generation"] == generation)


def test_the_served_generation_stays_until_the_promoted_one_is_loaded(
    log: MemoryLog, promoted: Writing, shelves: Answers
) -> None:
    second = Writing(log, generation=2)
    second.row(1, "A", 40)
    promote(log, second, promoted)
    answer = shelves.eventually("/v1/pipelines", lambda page: "loading" in page["pipelines"][0])
    [pipeline] = answer["pipelines"]
    assert (pipeline["generation"], pipeline["promoted"]) == (1, 2)
    promoted.row(1, "A", 3, version=2)
    shelves.ready(promoted.mark())
    assert shelves.json("/v1/stock/S001/A")["units_on_hand"] == 3
    assert shelves.json(VIEW)["served"] == 1
    assert shelves.get("/readyz").is_success
    second.mark()
    assert shelves.eventually("/v1/stock/S001/A", is_made_by(2))["units_on_hand"] == 40
    assert shelves.json(VIEW)["served"] == 2


def test_switching_back_goes_on_with_the_file_that_was_kept(
    log: MemoryLog, inventory: Writing, api: Answers, tmp_path: Path
) -> None:
    second = Writing(log, generation=2)
    for writing in (inventory, second):
        writing.row(1, "A", writing.generation)
        writing.mark()
    for promoted, other in ((inventory, second), (second, inventory), (inventory, second)):
        promote(log, promoted, other)
        shelf = api.eventually("/v1/stock/S001/A", is_made_by(promoted.generation))
        assert shelf["units_on_hand"] == promoted.generation
    third = Writing(log, generation=3)
    third.mark()
    promote(log, third, inventory, second)
    api.eventually("/v1/stock", is_made_by(3))
    kept = sorted(path.name for path in tmp_path.glob("inventory.*.sqlite"))
    assert kept == ["inventory.g1.sqlite", "inventory.g2.sqlite", "inventory.g3.sqlite"]
    promote(log, third, second)
    gone = tmp_path / "inventory.g1.sqlite"
    api.until(lambda: not gone.exists())


def test_what_is_invalid_is_not_served_while_its_successor_is_loaded(
    log: MemoryLog, promoted: Writing, tmp_path: Path
) -> None:
    second = Writing(log, generation=2)
    with serving(create_sources(log, tmp_path)) as api:
        api.ready()
        invalidate(log, promoted, "3 rows were dropped by the watermark", promoted=second)
        api.until(lambda: api.get("/v1/stock").status_code == HTTPStatus.SERVICE_UNAVAILABLE)
    with serving(create_sources(log, tmp_path)) as api:
        api.eventually("/v1/pipelines", lambda answer: "loading" in answer["pipelines"][0])
        assert api.get("/v1/stock").status_code == HTTPStatus.SERVICE_UNAVAILABLE
        second.row(1, "A", 40)
        second.mark()
        assert api.eventually("/v1/stock/S001/A", is_made_by(2))["units_on_hand"] == 40


def test_a_candidate_is_loaded_before_it_is_promoted(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    second = Writing(log, generation=2)
    for writing in (inventory, second):
        writing.row(1, "A", writing.generation)
        writing.mark()
    promote(log, inventory, second)
    pipeline = api.eventually(
        "/v1/pipelines/inventory",
        lambda pipeline: all(each["loaded"] for each in pipeline["generations"]),
    )
    assert [each["number"] for each in pipeline["generations"]] == [1, 2]
    assert pipeline["generation"] == 1
    promote(log, second, inventory)
    assert api.eventually("/v1/stock/S001/A", is_made_by(2))["units_on_hand"] == 2


def test_no_page_of_another_generation_follows_a_page(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    second = Writing(log, generation=2)
    for writing in (inventory, second):
        writing.rows(1, "ABC", writing.generation)
        writing.mark()
    promote(log, inventory)
    first_page = api.ready().json("/v1/stock", limit=1)
    promote(log, second, inventory)
    api.eventually("/v1/stock", is_made_by(2))
    gone = api.get("/v1/stock", limit=1, cursor=first_page["next"])
    assert gone.status_code == HTTPStatus.GONE
    assert gone.json()["generation"] == 2
