from pathlib import Path

import pytest

from infra import kafka, scratch
from infra.errors import UserError
from infra.scratch import StillPublishing, lock_out_publishing
from infra.settings import Settings, locate_root
from ops.cli.options import lock_home
from tests.ops.cli.commands import run_command

MAPPING = locate_root() / "generators" / "importing" / "mappings" / "uci-online-retail.yaml"


def test_a_second_command_is_told_to_wait(tmp_path: Path) -> None:
    with (
        lock_home(tmp_path),
        pytest.raises(UserError, match="Wait for it to end"),
        lock_home(tmp_path),
    ):
        pass


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
