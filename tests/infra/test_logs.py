import logging
import re
from pathlib import Path

import pytest

from infra.logs import BYTES_MAX, set_up_logging, tail


@pytest.fixture(autouse=True)
def put_back() -> object:
    """The handlers of the test run, after each test."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:], logging.root.level = handlers, level


def test_a_line_says_when_how_bad_who_and_what(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("api").warning("a shelf is empty")
    line = capsys.readouterr().err
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z WARNING api  a shelf is empty\n", line)


def test_the_end_of_a_log_is_its_last_lines_of_a_large_one_too(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    assert tail(log) == ""
    log.write_bytes(b"\xff\n" + b"".join(b"%d\n" % number for number in range(100)))
    assert tail(log, lines=2) == "98\n99"
    log.write_bytes(b"\xff" * 2 * BYTES_MAX + b"\nlast\n")
    assert tail(log).endswith("\nlast")
    assert len(tail(log)) <= BYTES_MAX
