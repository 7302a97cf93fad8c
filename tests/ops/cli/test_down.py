from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from infra.errors import UserError
from infra.settings import Settings, read_settings
from ops.cli.down import is_ours
from ops.cli.main import build_application


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
