"""What acts: only with the token, never for another site, one of a kind, as the command says."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Thread

import httpx
import pytest

from services.api import commands
from services.api.app import RETAIL
from services.api.commands import Commands
from services.api.problem import Problem
from services.api.routes.actions import (
    BECAUSE_CHARACTERS_MAX,
    CUSTOMER_CHARACTERS_MAX,
    THRESHOLDS_MAX,
)
from tests.services.memory import MemoryLog
from tests.services.serving import TOKEN, Answers, check_problem, serving_commands
from tests.services.writing import promote_fraud

PROMOTE = "/v1/pipelines/fraud/promote?number=2"
ACTIONS = {
    "/v1/pipelines/fraud/start": "replay start fraud",
    "/v1/pipelines/fraud/start?set=sales_max=3&set=cents_min=-1": (
        "replay start fraud --set sales_max=3 --set cents_min=-1"
    ),
    PROMOTE: "replay promote fraud --number 2",
    "/v1/pipelines/fraud/rollback": "replay rollback fraud",
    "/v1/pipelines/fraud/prune?number=2": "replay prune fraud --number 2",
    "/v1/pipelines/fraud/difference": "replay diff fraud",
    "/v1/quarantine/public.sales.receipt.v1/2/7/release?because=it+was+late": (
        "quarantine release --because=it was late -- public.sales.receipt.v1/2/7"
    ),
    "/v1/customers/forget?customer_id=C%2F17": "forget customer -- C/17",
    "/v1/simulation": "simulate",
    "/v1/simulation?usual=true&speed=30&hit=SKU-00417=8&quiet_store=S003&quiet_store=S004": (
        "simulate --speed=30.0 --quiet-store=S003 --quiet-store=S004 --hit=SKU-00417=8 --usual"
    ),
}
LONG = [path for path in ACTIONS if any(name in path for name in ("start", "difference", "forget"))]
"""What reads the whole log."""
FORGET = "/v1/customers/forget?customer_id="
RELEASE = "/v1/quarantine/public.sales.receipt.v1/2/7/release?because="


def set_thresholds(count: int) -> str:
    thresholds = "&".join(f"set=sales_max={limit}" for limit in range(count))
    return f"/v1/pipelines/fraud/start?{thresholds}"


ASKED: Mapping[HTTPStatus, Sequence[str]] = {
    HTTPStatus.NOT_FOUND: (
        "/v1/pipelines/nothing/promote?number=2",
        "/v1/pipelines/nothing/rollback",
        "/v1/pipelines/nothing/start",
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        "/v1/pipelines/fraud/start?set=--help",
        "/v1/pipelines/fraud/start?set=mood=good",
        "/v1/pipelines/fraud/start?promote=true",
        "/v1/pipelines/fraud/promote",
        "/v1/pipelines/fraud/prune?number=0",
        "/v1/pipelines/fraud/rollback?force=1",
        "/v1/customers/forget",
        "/v1/customers/forget?customer_id=a%00b",
        "/v1/quarantine/a/1/2/release",
        "/v1/quarantine/a/1/2/release?because=%20",
        RELEASE + "x" * (BECAUSE_CHARACTERS_MAX + 1),
        FORGET + "x" * (CUSTOMER_CHARACTERS_MAX + 1),
        set_thresholds(THRESHOLDS_MAX + 1),
        "/v1/simulation?speed=0.5",
        "/v1/simulation?receipts_per_second=1001",
        "/v1/simulation?hit=--help",
        "/v1/simulation?quiet_store=--usual",
        "/v1/simulation?usual=perhaps",
    ),
    HTTPStatus.REQUEST_URI_TOO_LONG: (RELEASE + "x" * 10_000,),
    HTTPStatus.OK: (
        FORGET + "--help",
        FORGET + "x" * CUSTOMER_CHARACTERS_MAX,
        "/v1/quarantine/--help/1/2/release?because=x",
        RELEASE + "x" * BECAUSE_CHARACTERS_MAX,
        set_thresholds(THRESHOLDS_MAX),
    ),
}
"""What is asked for, by the status of the answer."""


@pytest.fixture
def running(log: MemoryLog, api: Answers) -> Answers:
    """Fraud with a candidate, generation 2; a command says its arguments and does nothing."""
    promote_fraud(log)
    return api.ready(pipeline="fraud")


def act(api: Answers, path: str, **headers: str) -> httpx.Response:
    return api.request("POST", path, headers={"Authorization": f"Bearer {TOKEN}", **headers})


def test_it_runs_the_command_of_the_same_name_and_answers_with_its_words(running: Answers) -> None:
    for path, command in ACTIONS.items():
        answer = act(running, path)
        assert answer.status_code == HTTPStatus.OK, answer.text
        assert answer.json() == {"command": f"retail {command}", "said": command}


@pytest.mark.parametrize("given", [None, "Bearer a guess", f"Basic {TOKEN}", TOKEN])
def test_without_the_token_nothing_is_done(running: Answers, given: str | None) -> None:
    headers = {"Authorization": given} if given else {}
    for path in ACTIONS:
        answer = running.request("POST", path, headers=headers)
        assert answer.status_code == HTTPStatus.UNAUTHORIZED, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "make up" in answer.json()["detail"]
        assert TOKEN not in answer.text


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_site_may_not_act_even_with_the_token(
    running: Answers, origin: str
) -> None:
    for path in ACTIONS:
        assert act(running, path, Origin=origin).status_code == HTTPStatus.FORBIDDEN, path
        assert act(running, path, Origin=running.address).status_code == HTTPStatus.OK, path


def test_what_is_not_meant_is_refused_before_a_command_runs(running: Answers) -> None:
    for status, paths in ASKED.items():
        for path in paths:
            assert act(running, path).status_code == status, path


@pytest.mark.parametrize("more", [-1, 0, 1, 100_000])
def test_of_a_long_text_the_end_is_answered(log: MemoryLog, tmp_path: Path, more: int) -> None:
    printed = commands.SAID_CHARACTERS_MAX + more
    with serving_commands(log, tmp_path, f"print('a' + 'b' * {printed - 1})") as api:
        output = act(api.ready(pipeline="fraud"), PROMOTE).json()["said"]
    assert len(output) == min(printed, commands.SAID_CHARACTERS_MAX)
    assert (output[0] == "a") == (more <= 0)


@contextmanager
def busy(log: MemoryLog, folder: Path, path: str, waiting: Sequence[str]) -> Iterator[Answers]:
    """An API that is doing this. Its commands of these words wait for a file, `go`, or the end."""
    program = (
        "import pathlib, sys, threading\n"
        f"folder = pathlib.Path({str(folder)!r})\n"
        f"while {set(waiting)!r} & {{*sys.argv[2:3]}} and not (folder / 'go').exists():\n"
        "    (folder / 'begun').touch()\n"
        "    threading.Event().wait(0.01)\n"
    )
    with serving_commands(log, folder, program) as api:
        running = Thread(target=act, args=(api.ready(pipeline="fraud"), path))
        running.start()
        api.until((folder / "begun").exists)
        try:
            yield api
        finally:
            (folder / "go").touch()
            running.join()


def test_a_second_command_at_the_same_time_is_asked_to_come_back(
    log: MemoryLog, tmp_path: Path
) -> None:
    with busy(log, tmp_path, PROMOTE, ["promote"]) as api:
        answer = act(api, PROMOTE)
        check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Another command runs")
        assert answer.headers["retry-after"] == "1"
        (tmp_path / "go").touch()
        api.until(lambda: act(api, PROMOTE).status_code == HTTPStatus.OK)


@pytest.mark.parametrize("path", LONG)
def test_a_long_command_holds_up_no_short_one(log: MemoryLog, tmp_path: Path, path: str) -> None:
    with busy(log, tmp_path, path, ["start", "diff", "customer"]) as api:
        for path in ACTIONS:
            expected = HTTPStatus.SERVICE_UNAVAILABLE if path in LONG else HTTPStatus.OK
            assert act(api, path).status_code == expected, path


def test_it_is_the_installed_command_line_which_says_what_it_does_not_know() -> None:
    commands = Commands(RETAIL, lambda: "a token")
    output = commands.run("replay", "--help")
    for name in ("diff", "promote", "rollback", "prune"):
        assert name in output
    with pytest.raises(Problem, match="No such command"):
        commands.run("replay", "guess")


def test_it_runs_as_the_operator_whoever_the_api_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_SERVICE", "api")
    program = "import os; print(os.environ['KAFKA_SERVICE'])"
    assert Commands((sys.executable, "-c", program), lambda: "a token").run() == "operator"
