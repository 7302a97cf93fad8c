import dataclasses
import json
import os
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import ops.cli.status
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.security.certificates import ensure_certificate
from infra.security.tokens import DAY_MS, Role, add_token, ensure_tokens
from infra.settings import Settings
from infra.supervisor import daemon
from infra.supervisor.manager import Process, State
from ops.cli import fleet
from ops.cli.fleet import Component
from ops.cli.status import logs, render_duration
from tests.ops.cli.commands import run_command
from tests.services.showing import RULE, write_checks

ADDRESS, LOG = "http://127.0.0.1:8000", "/shop/data/logs/api.log"
API = Component("api", "ready", f"ready on {ADDRESS}", 7, 90, 0, "", ADDRESS, LOG)
"""Process 7, since 90 seconds, without a restart."""


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Component]:
    """The components that status finds; a test puts them in."""
    components: list[Component] = []
    monkeypatch.setattr(fleet, "list_components", lambda _: components)
    return components


def test_settings_say_which_components_run() -> None:
    least = Settings(pipelines="inventory", lake=False, kafka_bootstrap_servers="elsewhere:9092")
    for changed, added in (
        ({"kafka_bootstrap_servers": None}, {"broker"}),
        ({"simulator_refill": "orders"}, {"ordering", "supplier"}),
        ({"pipelines": "inventory,pricing"}, {"markdowns"}),
        ({"lake": True}, {"lake"}),
    ):
        more = least.model_copy(update=changed)
        assert set(fleet.list_names(more)) - set(fleet.list_names(least)) == added


run_status = partial(run_command, "status")


def test_a_ready_one_shows_its_address_and_log(current: Settings, parts: list[Component]) -> None:
    parts.append(API)
    words = run_status().split("\n")[1].split()
    assert words == ["api", "ready", "1", "min", ADDRESS, LOG]


KILLED, FULL = "terminated by SIGKILL", "paused: 20.1 GiB of 20. Allow more: make up"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"restarts": 2, "last_end": KILLED}, ["api was started again 2 × since `up`", KILLED]),
        (
            {"state": "failed", "detail": "Exited too quickly"},
            ["api: Exited too quickly", "no such table: stock"],  # the end of its log
        ),
        ({"state": "paused", "detail": FULL}, [f"api is {FULL}"]),
    ],
)
def test_what_is_not_well_is_said_with_its_reason(
    current: Settings, parts: list[Component], changes: dict[str, Any], words: list[str]
) -> None:
    (current.logs_dir / "api.log").write_text("started\nno such table: stock\n")
    parts.append(dataclasses.replace(API, **changes))
    said = run_status()
    assert all(word in said for word in words)


STATES: dict[str, State] = {"broker": "STOPPED", "api": "RUNNING", "quarantine": "RUNNING"}


def test_without_a_broker_only_the_api_is_asked(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answer(_: Settings, name: str, __: int) -> str:
        asked.append(name)
        return "ready"

    processes = {name: Process(name, state, 7, 1_000, 60, "") for name, state in STATES.items()}
    manager = SimpleNamespace(list_processes=lambda: processes)
    monkeypatch.setattr(daemon, "find_running", lambda _: manager)
    monkeypatch.setattr(fleet, "find_readiness", answer)
    monkeypatch.setattr(fleet, "is_answering", lambda *_: False)
    states = {component.name: component.state for component in fleet.list_components(current)}
    assert asked == ["api"]
    assert [states[name] for name in STATES] == ["stopped", "ready", "starting"]


def test_a_broker_that_does_not_answer_is_said_and_asked_for_nothing_more(
    current: Settings, parts: list[Component], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ops.cli.status, "read_promoted", None)  # it would wait for ten seconds
    parts += [API, dataclasses.replace(API, name="quarantine", state="starting")]
    words = f"Kafka does not answer on {current.bootstrap_servers}. Start it with: make up"
    assert words in run_status()


def test_when_nothing_runs_the_next_step_is_up(current: Settings) -> None:
    assert "Nothing runs. Start it: make up" in run_status()


def test_programs_read_json(current: Settings, parts: list[Component]) -> None:
    parts.append(API)
    assert json.loads(run_status("--json"))["components"] == [dataclasses.asdict(API)]


def test_durations_are_said_in_the_largest_unit() -> None:
    said = [render_duration(seconds) for seconds in (5, 90, 7_200, 200_000)]
    assert said == ["5 s", "1 min", "2 h", "2 d"]


def test_what_of_a_secure_shop_ends_soon_is_said_with_what_renews_it(
    current: Settings, parts: list[Component], monkeypatch: pytest.MonkeyPatch
) -> None:
    secure = current.model_copy(update={"secure": True})
    monkeypatch.setattr(ops.cli.status, "read_settings", lambda: secure)
    for name in ("api", "broker"):
        ensure_certificate(secure, name)
    now_ms = get_wall_ms()
    ensure_tokens(secure, now_ms)
    add_token(secure, "till", Role.PUBLISHER, now_ms, days=30)
    assert "Renew it" not in run_status()
    for days, tokens, certificates in ((22, 0, 0), (24, 1, 0), (31, 1, 0), (340, 1, 1)):
        monkeypatch.setattr(ops.cli.status, "get_wall_ms", lambda days=days: now_ms + days * DAY_MS)
        said = run_status()
        assert said.count("the token till ") == tokens
        assert said.count("retail security token add till --role publisher") == tokens
        assert said.count("the certificate broker ends") == certificates
        assert said.count("Renew it") == tokens + certificates
        assert ("is over since" in said) == (days > 30)


def test_one_log_or_all_are_shown(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _, arguments: commands.append(arguments))
    broker, api = (current.logs_dir / f"{name}.log" for name in ("broker", "api"))
    api.touch()
    broker.touch()
    logs("api", follow=True, lines=5)
    logs()
    assert commands == [
        ["tail", "-n", "5", "-F", "--", str(api)],
        ["tail", "-n", "20", "--", str(broker), str(api)],
    ]


def test_where_there_is_no_log_the_next_step_is_up(current: Settings) -> None:
    with pytest.raises(UserError, match="make up"):
        logs()


def test_failed_checks_of_the_lake_are_said_with_where_their_rows_are(
    current: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    write_checks(current.data_dir)
    ops.cli.status.warn_of_checks(current.model_copy(update={"lake": False}))
    assert not capsys.readouterr().out
    ops.cli.status.warn_of_checks(current.model_copy(update={"lake": True}))
    said = capsys.readouterr().out
    assert f"check of silver/inventory.adjustment.v1: not so of 1 row: {RULE}" in said
    assert "/pipelines#checks" in said
    assert "gold/daily-facts could not run: MemoryError" in said
