"""An answer that holds what its reader has written: it waits for the commit, within limits."""

import threading
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import httpx
import pytest

from contracts import RECEIPTS, STOCK_LEVELS
from services.api.http import read_your_writes as reaching
from tests.services.serving import Answers, check_problem
from tests.services.writing import Writing

ROUTES = ("/v1/stock/S001/A", "/v1/stock", f"/v1/views/{STOCK_LEVELS.name}/export")
FIRST = f"{RECEIPTS.name}/0/0"


@pytest.mark.parametrize("path", ROUTES)
def test_an_answer_waits_for_named_records(inventory: Writing, shelves: Answers, path: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(shelves.get, path, min_offset=FIRST)
        inventory.row(1, "A", 3, version=2)
        inventory.mark()  # something was counted, but not the receipt
        inventory.row(1, "A", 2, version=3)
        inventory.mark(sold=1)
        answer = asked.result()
    assert answer.status_code == HTTPStatus.OK, answer.text
    assert '"units_on_hand":2' in answer.text


def test_an_aborted_record_is_passed_and_an_open_one_is_waited_for(
    inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two records were aborted, which with their end takes three offsets; the next one is open."""
    monkeypatch.setattr(reaching, "REACH_SECONDS_MAX", 0.05)
    shelves.ready(inventory.mark(sold=3))
    for passed in (0, 1, 2):
        path = f"/v1/stock/S001/A?min_offset={RECEIPTS.name}/0/{passed}"
        assert shelves.request("GET", path).status_code == HTTPStatus.OK
    answer = shelves.get("/v1/stock", min_offset=f"{RECEIPTS.name}/0/3")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert answer.json()["counted"] == {f"{RECEIPTS.name}/0": 3}


def test_every_record_named_is_waited_for_and_one_that_does_not_come_is_named(
    inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "REACH_SECONDS_MAX", 0.05)
    shelves.ready(inventory.mark(sold=1))
    path = f"/v1/stock/S001/A?min_offset={FIRST}&min_offset={RECEIPTS.name}/1/7"
    answer = shelves.request("GET", path)
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Not reached yet")
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["counted"] == {f"{RECEIPTS.name}/1": 0}
    assert f"{RECEIPTS.name}/1/7: counted up to 0" in answer.json()["detail"]


def test_a_shelf_waited_for_keeps_nobody_else_waiting(inventory: Writing, shelves: Answers) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(shelves.get, "/v1/stock/S001/A", min_offset=FIRST) for _ in range(8)]
        assert shelves.json("/v1/stock/S001/A")["units_on_hand"] == 4
        assert not any(each.done() for each in asked)
        inventory.mark(sold=1)
        assert {each.result().status_code for each in asked} == {HTTPStatus.OK}


def test_no_more_may_wait_than_the_limit(
    inventory: Writing, shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "WAITING_MAX", 1)
    path, refused = "/v1/stock/S001/A", threading.Event()

    def ask(_: int) -> httpx.Response:
        answer = shelves.get(path, min_offset=FIRST)
        if answer.is_error:
            refused.set()
        return answer

    with ThreadPoolExecutor(2) as pool:
        asked = pool.map(ask, range(2))
        assert refused.wait(4)
        inventory.mark(sold=1)
        answers = list(asked)
    assert sorted(each.status_code for each in answers) == [200, 503]
    assert [each.json()["title"] for each in answers if each.is_error] == ["Too many waiting"]


@pytest.mark.parametrize(
    ("named", "detail"),
    [
        (f"{RECEIPTS.name}/9/0", f"found one of {RECEIPTS.name}/9"),
        ("public.pricing.price-change.v1/0/0", f"{RECEIPTS.name}/0"),
        ("receipts", "should match pattern"),
        (f"{RECEIPTS.name}/0/-1", "should match pattern"),
    ],
)
def test_what_no_answer_will_hold_is_refused(shelves: Answers, named: str, detail: str) -> None:
    answer = shelves.get("/v1/stock", min_offset=named)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert detail in answer.json()["detail"]


def test_a_page_goes_on_whatever_it_waits_for(inventory: Writing, shelves: Answers) -> None:
    inventory.row(1, "B", 7)
    inventory.mark(sold=1)
    first = shelves.json("/v1/stock", limit=1, min_offset=FIRST)
    assert [shelf["sku"] for shelf in first["items"]] == ["A"]
    second = shelves.json("/v1/stock", limit=1, cursor=first["next"])
    assert [shelf["sku"] for shelf in second["items"]] == ["B"]


def test_a_view_that_is_not_there_is_not_waited_for(api: Answers) -> None:
    answer = api.get("/v1/stock", min_offset=FIRST)
    assert answer.json()["title"] == "View not there yet"
