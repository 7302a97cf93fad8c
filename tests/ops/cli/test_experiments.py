import re
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.settings import Settings, locate_root
from ops.cli import experiments
from ops.cli.experiments import (
    FENCED,
    Experiment,
    change,
    find_experiments,
    parse_exchanges,
    parse_steps,
    run,
    try_command,
)
from tests.ports import free_port_base

PAGE = """# 1. A page

*Question: what? Takes 2 minutes; the shop has to run.*

```
a drawing
```

Look at it:

```
$ echo 'one
two' \\
    | cat
one
two
$ true
```

The end.
"""
GUIDE = locate_root() / "docs" / "guide" / "README.md"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, port_base=free_port_base())


def test_a_page_is_its_commands_each_after_the_words_before_it() -> None:
    (prose, command), second, end = parse_steps(PAGE)
    assert prose.startswith("# 1. A page")
    assert prose.endswith("Look at it:")
    assert "a drawing" in prose
    assert command == "echo 'one\ntwo' \\\n    | cat"
    assert (second, end) == (("", "true"), ("The end.", ""))


def test_the_list_has_every_page_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    try_command(list_=True)
    printed = capsys.readouterr().out
    for experiment in find_experiments():
        assert f"{experiment.minutes} min" in printed
        assert experiment.name in printed
        assert f"({experiment.file.name})" in GUIDE.read_text()


def test_what_is_not_there_is_told_with_what_is(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(experiments, "read_settings", lambda: settings)
    with pytest.raises(UserError, match=r"one of three-ways, the-log, .*; found the-cat"):
        try_command("the-cat")
    with pytest.raises(UserError, match=rf"ready at {settings.api_url}, but: .*make up"):
        try_command("the-log", yes=True)
    monkeypatch.setattr(experiments, "locate_root", lambda: tmp_path)
    with pytest.raises(UserError, match="comes with the project's repository"):
        try_command(list_=True)


def test_a_command_runs_with_the_addresses_of_this_shop(settings: Settings) -> None:
    output = run(settings, "echo 127.0.0.1:8000 127.0.0.1:9092; command -v retail")
    api, broker, retail = output.split()
    assert (f"http://{api}", broker) == (settings.api_url, settings.bootstrap_servers)
    assert Path(retail).name == "retail"


def test_a_failing_command_ends_it(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"ended with 3:\necho why; exit 3"):
        run(settings, "echo why; exit 3")
    assert capsys.readouterr().out.strip() == "why"


def test_a_script_changes_commands_and_only_those_run(tmp_path: Path) -> None:
    page = tmp_path / "01-a-page.md"
    page.write_text(PAGE + "\n```\n$ retail try a-page --sed 's/one/three/'\n```\n")
    experiment = Experiment.of(page)
    assert change(experiment, "s/one/three/") == ["echo 'three\ntwo' \\\n    | cat"]
    with pytest.raises(UserError, match=r"changes a command of .*; found s/four/five/"):
        change(experiment, "s/four/five/")
    with pytest.raises(UserError, match=r"script of sed; found s/one: .*sed"):
        change(experiment, "s/one")


def test_each_page_ends_with_a_change_that_its_test_follows() -> None:
    for experiment in find_experiments():
        _, _, end = experiment.file.read_text().partition("**Change something.**")
        [(command, answer)] = [
            each for block in FENCED.findall(end) for each in parse_exchanges(block)
        ]
        assert answer, command


def test_the_guide_names_only_experiments_that_there_are() -> None:
    pages = "".join(page.read_text() for page in GUIDE.parent.glob("*.md"))
    named = set(re.findall(r"retail try ([a-z][a-z-]*)", pages))
    assert named == {experiment.name for experiment in find_experiments()}
