"""Starting and stopping: what is checked, awaited and said, one command at a time."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner, Result

from infra import kafka, scratch
from infra.clock import get_wall_ms
from infra.doctor import Finding
from infra.errors import UserError
from infra.scratch import StillPublishing, lock_out_publishing
from infra.security.tokens import ensure_tokens, list_tokens
from infra.settings import Settings, locate_root, read_settings
from infra.supervisor import daemon
from infra.supervisor.manager import Manager, Process, State
from infra.token import read_token
from ops.cli import fleet as components
from ops.cli import up
from ops.cli.down import is_ours
from ops.cli.fleet import Component, await_all
from ops.cli.main import build_application
from ops.cli.welcome import welcome_outside
from tests.ops.cli.commands import run_command


def test_complaints_are_said_at_once(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    in_use = "Port 8000 is in use by python3 (pid 4121)"
    java, port = Finding("java", "no Java", "Install it"), Finding("port", in_use, "Stop it")
    monkeypatch.setattr(up, "examine", lambda _: [java, Finding("make", "make"), port])
    with pytest.raises(UserError) as refused:
        up.check(current)
    assert str(refused.value).splitlines() == ["no Java. Install it", f"{in_use}. Stop it"]


def test_what_runs_keeps_its_settings(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = cast(Manager, object())
    monkeypatch.setattr(daemon, "find_running", lambda _: manager)
    assert up.ensure_manager(current) is manager
    moved = current.model_copy(update={"port_base": 8100})
    with pytest.raises(UserError, match=r"another PORT_BASE\. .*make down"):
        up.ensure_manager(moved)


def test_a_new_start_remembers_its_settings(
    current: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(daemon, "start", lambda _: cast(Manager, object()))
    up.ensure_manager(current.model_copy(update={"port_base": 8100}))
    assert Settings().port_base == 8100


RUNNING = Process("", "RUNNING", pid=7, started_at=100, up_seconds=1, reason="")


def wait(current: Settings, *names: str, process: Process = RUNNING) -> None:
    """Wait for components whose processes are all in one state."""
    manager = SimpleNamespace(find_process=lambda name: replace(process, name=name))
    await_all(current, cast(Manager, manager), names)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "POLL_SECONDS", 0)


def test_components_are_printed_in_order_and_asked_about_this_start(
    current: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last one is ready first."""
    answers = {"pipelines": iter([None, None, "since"]), "api": iter(["since"])}

    def answer(_: Settings, name: str, started_at: int) -> str | None:
        text = next(answers[name])
        return text and f"{text} {started_at}"

    monkeypatch.setattr(components, "find_readiness", answer)
    wait(current, "pipelines", "api")
    printed = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert printed == [["pipelines", "since", "100"], ["api", "since", "100"]]


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("FATAL", "Exited too quickly", r"FATAL(.|\n)*Address already in use"),
        ("STOPPED", "", "STOPPED"),  # by somebody else
    ],
)
def test_a_component_that_will_not_be_ready_shows_the_end_of_its_log(
    current: Settings, state: State, reason: str, said: str
) -> None:
    (current.logs_dir / "api.log").write_text("started\nAddress already in use\n")
    with pytest.raises(UserError, match=rf"api is not ready.*{said}"):
        wait(current, "api", process=replace(RUNNING, state=state, reason=reason))


def test_a_manager_that_is_gone_is_said(current: Settings) -> None:
    gone = Mock(find_process=Mock(side_effect=ConnectionRefusedError))
    with pytest.raises(UserError, match="make up"):
        await_all(current, gone, ("api",))


@pytest.fixture
def started(current: Settings, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What `retail up` waits for, in a shop whose parts start in a moment."""
    awaited: list[tuple[str, ...]] = []
    for name in ("check", "refuse_other_profile", "fetch_jars", "start_broker"):
        monkeypatch.setattr(up, name, lambda *_: None)
    monkeypatch.setattr(up, "ensure_manager", lambda _: SimpleNamespace(start=lambda _: None))
    monkeypatch.setattr(up, "await_all", lambda *words: awaited.append(words[-1]))
    pipelines = Component("pipelines", "starting", "fraud · visits", 7, 1, 0, "", "", "log")
    monkeypatch.setattr(components, "list_components", lambda _: [pipelines])
    return awaited


def test_it_returns_when_a_view_can_be_read_and_names_what_still_starts(
    started: list[tuple[str, ...]],
) -> None:
    assert "starting      fraud · visits\n" in run_command("up")
    run_command("up", "--wait")
    *before, rest = started
    assert before == [("simulator", "api")] * 2
    assert rest == ("pipelines", "quarantine", "ordering", "markdowns", "supplier", "lake")


def test_only_some_pipelines_have_no_lake_and_vans(
    started: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIPELINES", "LAKE"):
        monkeypatch.setenv(name, "")  # set by the command, and so put back
        monkeypatch.delenv(name)
    read_settings.cache_clear()
    run_command("up", "--only", "inventory", "--wait")
    assert started == [("simulator", "api"), ("pipelines", "quarantine")]
    read_settings.cache_clear()
    with pytest.raises(UserError, match=r"expected some of .*inventory.*, found inventroy, lake\."):
        run_command("up", "--only", "inventory,inventroy,lake")


def test_a_component_too_slow_is_said(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(components.READY_SECONDS_MAX, "api", 0)
    monkeypatch.setattr(components, "find_readiness", lambda *_: None)
    with pytest.raises(UserError, match=r"api is not ready(.|\n)*make logs COMPONENT=api"):
        wait(current, "api")


def reset(*options: str, **environment: str) -> Result:
    return CliRunner().invoke(build_application(), ["reset", *options], env=environment)


def test_with_yes_the_folder_is_gone_and_its_neighbours_stay(current: Settings) -> None:
    neighbour = current.data_dir.parent / "neighbour"
    neighbour.touch()
    assert reset(YES="1").exit_code == 0
    assert not current.data_dir.exists()
    assert neighbour.exists()


def test_what_urls_have_put_elsewhere_goes_too(current: Settings, tmp_path: Path) -> None:
    for name in ("mine", "lake/bronze/_delta_log", "checkpoints/inventory/g1"):
        (tmp_path / "store" / name).mkdir(parents=True)
    there = (tmp_path / "store").as_uri()
    read_settings.cache_clear()
    assert reset(YES="1", STORE_URL=there).exit_code == 0
    store = tmp_path / "store"
    assert [str(path.relative_to(store)) for path in store.rglob("*/*")] == []
    assert (store / "mine").is_dir()


def test_without_a_terminal_nothing_is_removed(current: Settings) -> None:
    assert "YES=1" in str(reset().exception)
    assert current.data_dir.exists()


def test_a_folder_that_is_not_ours_stays(current: Settings) -> None:
    (current.data_dir / "settings.json").unlink()
    (current.data_dir / "thesis.tex").touch()
    refusal = reset("--yes").exception
    assert isinstance(refusal, UserError)
    assert "does not look like a data folder" in str(refusal)
    assert (current.data_dir / "thesis.tex").exists()


def test_a_home_is_never_removed(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: current.data_dir / "me")
    assert not is_ours(current.data_dir)


def test_an_empty_folder_is_no_trouble(current: Settings) -> None:
    (current.data_dir / "settings.json").unlink()
    (current.data_dir / "logs").rmdir()
    assert "is empty already" in reset().output


MAPPING = locate_root() / "generators" / "importing" / "mappings" / "uci-online-retail.yaml"


def test_an_import_waits_until_a_backup_has_ended(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup pauses the shop's processes, which this command is not."""
    monkeypatch.setattr(scratch, "PUBLISHING_SECONDS_MAX", 0.1)
    monkeypatch.setattr(kafka, "is_answering", lambda _: True)
    monkeypatch.setattr("generators.importing.session.is_answering", lambda _: False)
    file = Path("sales.csv")
    file.touch()
    with (
        lock_out_publishing(current.data_dir),
        pytest.raises(StillPublishing, match="retail backup has done so"),
    ):
        run_command("import", "--map", str(MAPPING), "--dry-run", str(file))


def test_outside_the_address_is_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data_dir=tmp_path)
    welcome_outside(settings, "127.0.0.1:8100")
    address, token = capsys.readouterr().out.splitlines()
    assert address.split() == ["Shop", "http://127.0.0.1:8100/"]
    assert token.split()[:2] == ["Token", read_token(settings)]


def test_a_secure_shop_shows_no_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data_dir=tmp_path, secure=True)
    ensure_tokens(settings, get_wall_ms())
    welcome_outside(settings, "127.0.0.1:8100")
    printed = capsys.readouterr().out
    assert "https://127.0.0.1:8100/" in printed
    assert "tokens" in printed
    assert not [token for token in list_tokens(settings) if token.secret in printed]
