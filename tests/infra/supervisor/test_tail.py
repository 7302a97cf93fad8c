"""The end of a log."""

from pathlib import Path

from infra.supervisor.tail import BYTES_MAX, tail


def test_the_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_text("\n".join(map(str, range(100))) + "\n")
    assert tail(log, lines=2) == "98\n99"


def test_a_log_that_is_not_there_has_no_end(tmp_path: Path) -> None:
    assert tail(tmp_path / "api.log") == ""


def test_of_a_large_log_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_bytes(b"\xff" * 2 * BYTES_MAX + b"\nlast\n")
    assert tail(log).endswith("\nlast")
    assert len(tail(log)) <= BYTES_MAX
