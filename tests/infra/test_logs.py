"""Logs: one line per event, in UTC."""

import logging
import re

import pytest

from infra.logs import set_up_logging


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
