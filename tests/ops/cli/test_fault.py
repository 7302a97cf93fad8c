import pytest
from typer.testing import CliRunner, Result

from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor.parts import NotLocal
from ops.cli import fault
from ops.cli.main import build_application
from ops.faults import run
from ops.faults.catalog import FAULTS
from ops.faults.run import MINUTES_MAX, PAUSE_SECONDS_MAX


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(build_application(), ["fault", *arguments])


def test_the_list_says_what_each_promises() -> None:
    printed = invoke("list").output
    for name, declared in FAULTS.items():
        assert name in printed
        assert str(declared.promise) in printed


@pytest.mark.parametrize(
    ("arguments", "refusal", "beginning"),
    [
        ("", UserError, "Which faults?"),
        ("kill-api --all", UserError, "Which faults?"),
        ("--all --seed 1", UserError, "Which faults?"),
        ("kill-api --seed 1", UserError, "Which faults?"),
        ("kill-api --yes", NotLocal, ""),
        ("kill-api kill-till", UserError, "There is no fault kill-till"),
    ],
)
@pytest.mark.usefixtures("current")
def test_what_cannot_be_done_is_refused(
    arguments: str, refusal: type[UserError], beginning: str
) -> None:
    said = invoke("run", *arguments.split()).exception
    assert isinstance(said, refusal)
    assert str(said).startswith(beginning)


def test_nothing_is_done_unasked(current: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "list_possible", lambda *_: dict.fromkeys(FAULTS))
    monkeypatch.setattr(fault, "do_all", lambda *_: pytest.fail("it was not asked for"))
    assert "--yes" in str(invoke("run", "kill-api").exception)


@pytest.mark.parametrize(
    ("option", "most"), [("--minutes", MINUTES_MAX), ("--seconds", PAUSE_SECONDS_MAX)]
)
def test_it_does_not_go_on_for_ever(current: Settings, option: str, most: float) -> None:
    within = invoke("run", "--seed", "1", option, str(most))
    assert isinstance(within.exception, NotLocal)
    beyond = invoke("run", "--seed", "1", option, str(most + 1))
    assert beyond.exit_code == 2
    assert option in beyond.output
