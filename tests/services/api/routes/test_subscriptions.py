"""Subscriptions over HTTP: who may have one, to where, and how far it is said to be."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from contracts import ACTIONS, PROGRESS, STOCK_LEVELS, SUBSCRIPTIONS, decode
from services.subscriptions.records import PARKED, SUBSCRIPTIONS_MAX, Progress, Subscription
from services.subscriptions.signature import derive_secret
from tests.services.memory import MemoryLog
from tests.services.serving import ALLOWED, KEY, TOKEN, Answers, create_sources, serving
from tests.services.writing import Writing, promote

AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
PATH = "/v1/subscriptions"
ASKED: dict[str, Any] = {
    "view": STOCK_LEVELS.name,
    "address": "https://hooks.example.com/stock/secret-path",
    "filter": ["store_id=S001", "units_on_hand<=5"],
}


def ask(api: Answers, method: str = "POST", path: str = PATH, **parameters: Any) -> httpx.Response:
    return api.request(method, path, params=parameters, headers=AUTHORIZED)


def subscribe(api: Answers, **changes: Any) -> Any:
    answer = ask(api, **{**ASKED, **changes})
    assert answer.status_code == HTTPStatus.CREATED, answer.text
    return answer.json()


def list_written(log: MemoryLog) -> list[tuple[bytes, Any]]:
    records = log.records[SUBSCRIPTIONS.name, 0]
    return [(key, value and decode(value).value) for key, value, _ in records]


def tell_progress(log: MemoryLog, identity: str, **changes: Any) -> None:
    record = Progress(subscription_id=identity, **changes).to_record()
    log.publish((PROGRESS.name, 0), record.key, record.value)


def test_a_subscription_is_written_with_its_marker_and_shown_with_its_secret_once(
    log: MemoryLog, shelves: Answers
) -> None:
    made = subscribe(shelves)
    [(key, row)] = list_written(log)
    assert key.decode() == made["subscription_id"]
    written = Subscription.parse(row)
    assert (written.view, written.filters) == (STOCK_LEVELS.name, tuple(ASKED["filter"]))
    assert written.address == ASKED["address"]
    assert (written.generation, written.batch, written.from_beginning) == (1, 0, False)
    assert sum(written.offsets.values()) == 1
    assert made["secret"] == derive_secret(KEY, made["subscription_id"])
    secret = made.pop("secret")
    assert shelves.json(PATH) == {"subscriptions": [made]}
    one = shelves.get(f"{PATH}/{made['subscription_id']}")
    assert one.json() == made
    assert (made["state"], made["lag_records"], made["waiting"]) == ("active", 0, 0)
    assert made["receiver"] == "https://hooks.example.com:443"
    everything = f"{one.text}{log.records[SUBSCRIPTIONS.name, 0]}{log.records[ACTIONS.name, 0]}"
    assert secret.removeprefix("whsec_") not in everything
    assert "secret-path" not in one.text


def test_who_has_no_token_gets_none(log: MemoryLog, shelves: Answers) -> None:
    made = subscribe(shelves)
    path = f"{PATH}/{made['subscription_id']}"
    for method, at in (("POST", PATH), ("DELETE", path), ("POST", f"{path}/resume")):
        answer = shelves.request(method, at, params=ASKED if at == PATH else {})
        assert answer.status_code == HTTPStatus.UNAUTHORIZED
        elsewhere = {**AUTHORIZED, "Origin": "http://elsewhere.example"}
        answer = shelves.request(method, at, params=ASKED if at == PATH else {}, headers=elsewhere)
        assert answer.status_code == HTTPStatus.FORBIDDEN
    assert len(list_written(log)) == 1


def test_what_is_done_is_recorded_before_it_is_answered(log: MemoryLog, shelves: Answers) -> None:
    made = subscribe(shelves)
    path = f"{PATH}/{made['subscription_id']}"
    assert ask(shelves, path=f"{path}/resume").status_code == HTTPStatus.OK
    assert ask(shelves, "DELETE", path).status_code == HTTPStatus.NO_CONTENT
    recorded = [decode(value).value for _, value, _ in log.records[ACTIONS.name, 0]]
    done = ("create-subscription", "resume-subscription", "end-subscription")
    assert [(one["action"], one["outcome"]) for one in recorded] == [
        (action, outcome) for action in done for outcome in ("begun", "done")
    ]
    assert all(made["subscription_id"] in one["target"] for one in recorded)


@pytest.mark.parametrize(
    ("changes", "status", "why"),
    [
        ({"view": "public.sales.receipt.v1"}, HTTPStatus.NOT_FOUND, "Expected one of"),
        ({"filter": "units<3"}, HTTPStatus.UNPROCESSABLE_ENTITY, "one of the fields"),
        ({"filter": ["sku=A"] * 9}, HTTPStatus.UNPROCESSABLE_ENTITY, "at most 8"),
        ({"address": "https://elsewhere.example/"}, HTTPStatus.UNPROCESSABLE_ENTITY, "HOSTS"),
        ({"address": "http://hooks.example.com/"}, HTTPStatus.UNPROCESSABLE_ENTITY, "https"),
        ({"address": "nowhere"}, HTTPStatus.UNPROCESSABLE_ENTITY, "https://host:port/path"),
        ({"address": "https://a/" + "b" * 991}, HTTPStatus.UNPROCESSABLE_ENTITY, "1000"),
        ({"from": "yesterday"}, HTTPStatus.UNPROCESSABLE_ENTITY, "from"),
        ({"store": "S001"}, HTTPStatus.UNPROCESSABLE_ENTITY, "no such query parameter"),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(
    log: MemoryLog, shelves: Answers, changes: dict[str, Any], status: HTTPStatus, why: str
) -> None:
    answer = ask(shelves, **{**ASKED, **changes})
    assert answer.status_code == status, answer.text
    assert why in answer.json()["detail"]
    assert list_written(log) == []


def test_an_address_that_leads_into_this_machine_or_nowhere_is_refused(
    log: MemoryLog, promoted: Writing, tmp_path: Any
) -> None:
    def fail(*_: object) -> list[str]:
        raise OSError("Name or service not known")

    for resolve, why in ((lambda *_: ["127.0.0.1"], "private network"), (fail, "not known")):
        sources = create_sources(log, tmp_path)
        sources = replace(sources, allowed=replace(ALLOWED, resolve=resolve))
        with serving(sources) as api:
            answer = ask(api.ready(), **ASKED)
            assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
            assert why in answer.json()["detail"]
    assert list_written(log) == []


def test_without_a_promoted_generation_there_is_no_marker_to_start_from(api: Answers) -> None:
    api.eventually(PATH, bool)
    answer = ask(api, **ASKED)
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE


def test_how_far_it_is_is_what_the_sender_says_against_the_newest_marker(
    log: MemoryLog, shelves: Answers, inventory: Writing
) -> None:
    identity = subscribe(shelves, **{"from": "beginning"})["subscription_id"]
    path = f"{PATH}/{identity}"
    assert shelves.json(path)["lag_records"] == 1
    tell_progress(
        log,
        identity,
        generation=1,
        offsets={1: 1},
        waiting=2,
        head=7,
        waiting_since=1_795_603_267_120,
        attempts=40,
        delivered=5,
        state=PARKED,
        error="Expected a status of 200 to 299, found 500.",
    )
    told = shelves.eventually(path, lambda one: one["state"] == PARKED)
    assert (told["lag_records"], told["waiting"], told["delivered"]) == (0, 2, 5)
    assert (told["attempts"], told["retry_at"]) == (40, None)
    assert told["waiting_since"] == "2026-11-25T10:41:07.120Z"
    inventory.row(1, "A", 3, 2)
    inventory.row(2, "B", 3, 1)
    inventory.mark()
    shelves.eventually(path, lambda one: one["lag_records"] == 2)
    figures = shelves.get("/metrics").text
    labels = f'{{subscription="{identity}",view="{STOCK_LEVELS.name}"}}'
    for name, value in (("lag_records", 2), ("waiting", 2), ("parked", 1), ("delivered_total", 5)):
        assert f"retail_subscription_{name}{labels} {value}.0" in figures


def test_after_a_promotion_all_of_the_new_changelog_is_still_to_be_read(
    log: MemoryLog, shelves: Answers, stocked: Writing
) -> None:
    identity = subscribe(shelves)["subscription_id"]
    tell_progress(log, identity, generation=1, offsets={1: 1})
    candidate = Writing(log, generation=2)
    for number in range(3):
        candidate.row(1, f"A{number}", 1)
    candidate.mark()
    promote(log, candidate, stocked)
    shelves.eventually(f"{PATH}/{identity}", lambda one: one["lag_records"] == 3)


def test_a_parked_one_is_resumed_and_what_was_tried_may_be_skipped(
    log: MemoryLog, shelves: Answers
) -> None:
    identity = subscribe(shelves)["subscription_id"]
    path = f"{PATH}/{identity}"
    answer = ask(shelves, path=f"{path}/resume", skip=True)
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "Resume without skip" in answer.json()["detail"]
    tell_progress(log, identity, state=PARKED, head=7, waiting=1)
    shelves.eventually(path, lambda one: one["state"] == PARKED)
    assert ask(shelves, path=f"{path}/resume").status_code == HTTPStatus.OK
    assert ask(shelves, path=f"{path}/resume", skip=True).status_code == HTTPStatus.OK
    first, resumed, skipped = (Subscription.parse(row) for _, row in list_written(log))
    assert (first.resumed_at, first.skipped) == (None, None)
    assert resumed.resumed_at is not None
    assert resumed.skipped is None
    assert skipped.skipped == 7


def test_an_ended_one_is_gone(log: MemoryLog, shelves: Answers) -> None:
    identity = subscribe(shelves)["subscription_id"]
    path = f"{PATH}/{identity}"
    assert ask(shelves, "DELETE", path).content == b""
    assert list_written(log)[-1] == (identity.encode(), None)
    assert shelves.json(PATH) == {"subscriptions": []}
    for method, at in (("GET", path), ("DELETE", path), ("POST", f"{path}/resume")):
        answer = ask(shelves, method, at)
        assert answer.status_code == HTTPStatus.NOT_FOUND
        assert "GET /v1/subscriptions" in answer.json()["detail"]


def test_there_may_be_so_many_and_no_more(shelves: Answers) -> None:
    made = [subscribe(shelves)["subscription_id"] for _ in range(SUBSCRIPTIONS_MAX)]
    answer = ask(shelves, **ASKED)
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "at most 16" in answer.json()["detail"]
    ask(shelves, "DELETE", f"{PATH}/{made[0]}")
    subscribe(shelves)


def test_another_process_hears_of_it_from_the_log(
    log: MemoryLog, shelves: Answers, tmp_path: Any
) -> None:
    made = subscribe(shelves)
    with serving(create_sources(log, tmp_path / "other")) as other:
        other.eventually(PATH, lambda one: len(one["subscriptions"]) == 1)
        ask(other.ready(), "DELETE", f"{PATH}/{made['subscription_id']}")
    shelves.eventually(PATH, lambda one: one["subscriptions"] == [])
