"""supervisord.conf, as the process manager reads it."""

import os
import sys
from pathlib import Path

import pytest
from supervisor.options import ProcessConfig, ServerOptions

from infra.supervisor import COMPONENTS
from infra.supervisor.daemon import CONFIG


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder, 100% odd ;#"
    (folder / "logs").mkdir(parents=True)
    (folder / "run").mkdir()
    return folder


@pytest.fixture
def programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ProcessConfig]:
    """The programs of the configuration, by name, in the folder with the odd name."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("RETAIL_SOCKET", "/tmp/retail-x/supervisor.sock")
    monkeypatch.setattr(sys, "argv", ["supervisord"])
    options = ServerOptions()
    options.environ_expansions = {f"ENV_{name}": value for name, value in os.environ.items()}
    options.configfile = str(CONFIG)
    options.process_config(do_usage=False)
    configs = [
        config for group in options.process_group_configs for config in group.process_configs
    ]
    return {config.name: config for config in configs}


def test_every_component_has_its_program(programs: dict[str, ProcessConfig]) -> None:
    assert set(programs) == set(COMPONENTS)


def test_restarts_logs_and_stops_of_every_component_have_limits(
    programs: dict[str, ProcessConfig],
) -> None:
    for program in programs.values():
        assert not program.autostart
        assert program.startsecs >= 10
        assert program.startretries == 5
        assert 0 < program.stdout_logfile_maxbytes <= 10 * 1024 * 1024
        assert program.stdout_logfile_backups <= 2
        assert program.killasgroup, "nothing is left of a group that is killed"
        assert 2 * program.stopwaitsecs < 20, "two steps of stopping"
