"""Alive at once; ready when every promoted view is loaded."""

from http import HTTPStatus

from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.writing import Writing, promote


def test_the_process_is_healthy_before_there_is_anything_to_read(api: Answers) -> None:
    assert api.json("/healthz") == {"status": "ok"}


def test_nothing_is_ready_without_a_promoted_generation(api: Answers) -> None:
    api.eventually("/healthz", bool)
    answer = api.get("/readyz")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert answer.json()["title"] == "Not ready"
    shelf = api.get("/v1/stock/S001/A")
    assert shelf.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert shelf.headers["retry-after"] == "1"


def test_while_a_view_is_loaded_readiness_says_how_far_it_is(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    promote(log, inventory)
    for sku in "ABC":
        inventory.row(1, sku, 4)
    outputs = log.ends([inventory.topic]) | {(inventory.topic, 1): 9}
    inventory.mark_again(0, outputs)  # nine rows are promised, three are there

    def read() -> int:
        progress = api.get("/readyz").json().get("progress") or [{"records_read": 0}]
        return int(progress[0]["records_read"])

    api.until(lambda: read() == 3)
    answer = api.get("/readyz")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "inventory g1: 3 of 9 records read" in answer.json()["detail"]
    assert answer.json()["progress"] == [
        {
            "pipeline": "inventory",
            "generation": 1,
            "loaded": False,
            "records_read": 3,
            "records_total": 9,
        }
    ]
    assert "3 of 9 records read" in api.get("/v1/stock").json()["detail"]


def test_loaded_views_are_ready(log: MemoryLog, inventory: Writing, api: Answers) -> None:
    promote(log, inventory)
    inventory.row(1, "A", 4)
    inventory.mark()
    api.ready()
    assert api.json("/readyz") == {"status": "ready"}
