"""Numbers and times for people."""

import pytest

from cli.watch import words

NOON_MS = 1_772_452_800_000
"""2026-03-02 at noon."""


@pytest.mark.parametrize(
    ("cents", "text"),
    [(None, "–"), (0, "0.00"), (5, "0.05"), (-5, "-0.05"), (123_456_789, "1,234,567.89")],
)
def test_money_is_counted_in_hundreds_of_cents(cents: int | None, text: str) -> None:
    assert words.render_money(cents) == text


def test_money_is_exact_beyond_what_a_float_holds() -> None:
    assert words.render_money(2**63 - 1) == "92,233,720,368,547,758.07"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((None, "–"), (0.4, "0.4 s"), (12, "12 s"), (119, "119 s")),
        *((120, "2 min"), (7_199, "119 min"), (7_200, "2 h"), (172_800, "2 d")),
    ],
)
def test_a_span_is_said_in_one_unit(seconds: float | None, text: str) -> None:
    assert words.render_duration(seconds) == text


def test_a_moment_of_another_day_says_its_day() -> None:
    assert words.render_moment("2026-03-02T10:41:08.212Z", NOON_MS) == "10:41:08"
    assert words.render_moment("2026-03-01T10:41:08.212Z", NOON_MS) == "1 Mar, 10:41"
    assert words.render_moment("2026-03-02T10:41:08Z", None) == "2 Mar, 10:41"


def test_a_line_of_blocks_is_as_wide_as_asked_for() -> None:
    assert words.render_spark([0, 4, 8], 8, 20) == "▁▅█"
    assert len(words.render_spark(list(range(60)), 59, 20)) == 20
    assert words.render_spark([], 0, 20) == ""
