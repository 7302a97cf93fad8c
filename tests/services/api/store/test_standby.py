"""Standby: a candidate is loaded before its promotion, and pages stay with their generation."""

from http import HTTPStatus

from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.writing import Writing, promote


def test_a_candidate_is_loaded_before_it_is_promoted(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    second = Writing(log, generation=2)
    for writing in (inventory, second):
        writing.row(1, "A", writing.generation)
        writing.mark()
    promote(log, inventory, second)
    pipeline = api.eventually("/v1/pipelines/inventory", lambda one: find_loaded(one) == {1, 2})
    assert pipeline["generation"] == 1
    promote(log, second, inventory)
    shelf = api.eventually(
        "/v1/stock/S001/A", lambda answer: bool(answer["as_of"]["generation"] == 2)
    )
    assert shelf["units_on_hand"] == 2


def find_loaded(pipeline: dict[str, list[dict[str, object]]]) -> set[object]:
    return {each["number"] for each in pipeline["generations"] if each["loaded"]}


def test_pages_are_of_one_generation_while_it_is_kept(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    second, third = Writing(log, generation=2), Writing(log, generation=3)
    for writing in (inventory, second, third):
        writing.rows(1, "ABC", writing.generation)
        writing.mark()
    promote(log, inventory, second)
    api.eventually("/v1/pipelines/inventory", lambda one: find_loaded(one) == {1, 2})
    first_page = api.json("/v1/stock", limit=1)
    promote(log, second, inventory)
    api.eventually("/v1/stock", lambda answer: bool(answer["as_of"]["generation"] == 2))
    page = api.json("/v1/stock", limit=1, cursor=first_page["next"])
    assert (page["as_of"]["generation"], page["items"][0]["units_on_hand"]) == (1, 1)
    promote(log, third, second)
    api.eventually("/v1/stock", lambda answer: bool(answer["as_of"]["generation"] == 3))
    gone = api.get("/v1/stock", limit=1, cursor=page["next"])
    assert gone.status_code == HTTPStatus.GONE
    assert gone.json()["generation"] == 3
