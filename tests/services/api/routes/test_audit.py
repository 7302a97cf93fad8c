"""Who did what is in the log before it is answered, and listed; so is who was refused."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from contracts import ACTIONS, build_model, decode
from contracts.times import to_epoch_ms
from infra.clock import get_wall_ms
from infra.kafka import Outgoing
from services.api import commands
from services.api.store.audit import Audit
from services.api.store.publisher import Refused
from tests.services.memory import MemoryLog
from tests.services.serving import TOKEN, Answers, check_problem, serving_commands
from tests.services.world import NOON, announce
from tests.services.writing import promote_fraud

AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
RELEASE = "/v1/quarantine/public.sales.receipt.v1/2/7/release?because=it+was+late"
ROLL_BACK = "/v1/pipelines/fraud/rollback"
ACTIONS_BY_PATH = {
    "/v1/pipelines/fraud/start?set=sales_max=3": ("start-replay", "fraud sales_max=3", None),
    ROLL_BACK: ("roll-back-generation", "fraud", None),
    RELEASE: ("release-rejected", "public.sales.receipt.v1/2/7", "it was late"),
}


@pytest.fixture
def running(log: MemoryLog, api: Answers) -> Answers:
    """A command says its arguments and does nothing. In the world it is noon."""
    promote_fraud(log)
    announce(log)
    api.eventually("/v1/clock", bool)
    return api.ready(pipeline="fraud")


def list_recorded(log: MemoryLog) -> list[dict[str, Any]]:
    return [decode(value).value for _, value, _ in log.records[ACTIONS.name, 0]]


@pytest.mark.parametrize("path", ACTIONS_BY_PATH)
def test_an_action_is_recorded_when_it_begins_and_before_it_is_answered(
    log: MemoryLog, running: Answers, path: str
) -> None:
    before_ms = get_wall_ms()
    assert running.request("POST", path, headers=AUTHORIZED).is_success
    begun, done = list_recorded(log)
    assert (begun["outcome"], begun["status"], begun["ended_at"]) == ("begun", None, None)
    assert (done["outcome"], done["status"]) == ("done", HTTPStatus.OK)
    assert begun == done | {"outcome": "begun", "status": None, "ended_at": None}
    assert (done["action"], done["target"], done["why"]) == ACTIONS_BY_PATH[path]
    assert (done["who"], done["role"], done["left_out"]) == ("operator", "operator", 0)
    assert done["world_at"] == NOON
    times_ms = [before_ms, *(to_epoch_ms(done[name]) for name in ("asked_at", "ended_at"))]
    assert [*times_ms, get_wall_ms()] == sorted([*times_ms, get_wall_ms()])
    for row in (begun, done):
        build_model(ACTIONS).model_validate(row)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, HTTPStatus.UNAUTHORIZED),
        ({"Authorization": "Bearer a guess"}, HTTPStatus.UNAUTHORIZED),
        (AUTHORIZED | {"Origin": "http://elsewhere.example"}, HTTPStatus.FORBIDDEN),
    ],
)
@pytest.mark.parametrize("path", [ROLL_BACK, RELEASE])
def test_who_is_refused_is_recorded_without_what_was_shown(
    log: MemoryLog, running: Answers, path: str, headers: dict[str, str], status: HTTPStatus
) -> None:
    assert running.request("POST", path, headers=headers).status_code == status
    [row] = list_recorded(log)
    assert (row["action"], row["target"]) == (ACTIONS_BY_PATH[path][0], path.partition("?")[0])
    assert (row["who"], row["role"], row["outcome"]) == ("nobody", None, "refused")
    assert (row["status"], row["why"]) == (status, None)
    build_model(ACTIONS).model_validate(row)
    [[_, value, _]] = log.records[ACTIONS.name, 0]
    assert value is not None
    assert not any(secret in value for secret in (b"guess", TOKEN.encode()))


def test_a_token_that_somebody_puts_into_the_path_is_not_recorded(
    log: MemoryLog, running: Answers
) -> None:
    answer = running.request("POST", f"/v1/pipelines/{TOKEN.replace(' ', '%20')}/rollback")
    assert answer.status_code == HTTPStatus.UNAUTHORIZED
    [row] = list_recorded(log)
    assert row["target"] == "/v1/pipelines/…/rollback"


@pytest.mark.parametrize(
    ("program", "outcome", "status", "detail"),
    [
        ("raise SystemExit('nothing is ready')", "refused", 409, "nothing is ready"),
        ("import threading; threading.Event().wait()", "failed", 504, "to end within 3 s"),
    ],
)
def test_what_a_command_refuses_or_does_not_end_is_told_and_recorded(
    log: MemoryLog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    outcome: str,
    status: int,
    detail: str,
) -> None:
    monkeypatch.setattr(commands, "SECONDS_MAX", 3.0)
    with serving_commands(log, tmp_path, program) as api:
        answer = api.ready(pipeline="fraud").request("POST", ROLL_BACK, headers=AUTHORIZED)
    assert answer.status_code == status
    assert detail in answer.json()["detail"]
    found = [(row["outcome"], row["status"]) for row in list_recorded(log)]
    assert found == [("begun", None), (outcome, status)]


def test_what_cannot_be_recorded_is_not_begun(log: MemoryLog, tmp_path: Path) -> None:
    async def refuse(_: Outgoing) -> None:
        raise Refused("no such topic")

    program = f"import pathlib; pathlib.Path({str(tmp_path / 'begun')!r}).touch()"
    with serving_commands(log, tmp_path, program, Audit(refuse, lambda: None)) as api:
        answer = api.ready(pipeline="fraud").request("POST", ROLL_BACK, headers=AUTHORIZED)
        without = api.request("POST", ROLL_BACK)
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Not recorded", "no such topic")
    assert not (tmp_path / "begun").exists()
    assert without.status_code == HTTPStatus.UNAUTHORIZED  # a refusal needs no record


def test_the_newest_is_listed_first_once_with_its_outcome(log: MemoryLog, running: Answers) -> None:
    for path in (ROLL_BACK, RELEASE):
        running.request("POST", path, headers=AUTHORIZED)
    running.request("POST", ROLL_BACK)
    end = len(list_recorded(log))
    page = running.await_read("/v1/audit", ACTIONS.name, end).json("/v1/audit")
    found = {(row["action"], row["who"], row["outcome"]) for row in page["items"]}
    assert found == {
        ("roll-back-generation", "operator", "done"),
        ("release-rejected", "operator", "done"),
        ("roll-back-generation", "nobody", "refused"),
    }
    asked = [row["asked_at"] for row in page["items"]]
    assert asked == sorted(asked, reverse=True)
    assert len(asked) == 3
    for asked_for, count in (
        ({"who": "operator"}, 2),
        ({"outcome": "refused"}, 1),
        ({"action": "roll-back-generation"}, 2),
        ({"action": "roll-back-generation", "who": "nobody"}, 1),
        ({"who": "reader"}, 0),
    ):
        assert len(running.json("/v1/audit", **asked_for)["items"]) == count
