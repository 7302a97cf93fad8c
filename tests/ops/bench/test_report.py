import pytest

from ops.bench.figures import Aim, Figure, Outcome, Yardstick, aim_at_least, aim_at_most
from ops.bench.report import render_aim, render_lines

REPLAY = Figure(
    "inventory replay",
    123_456.7,
    "records/s",
    aim_at_least(100_000),
    Yardstick("Spark's bare read", 250_000, aim_at_least(25)),
    "Warm, median of 3. " * 10,
)


def create_outcome(*figures: Figure, failure: str | None = None) -> Outcome:
    return Outcome({"cores": 2}, "quick", figures, failure)


def test_a_line_says_value_aim_and_verdict_and_the_next_one_the_yardstick() -> None:
    value, beside, *_ = render_lines("replay", create_outcome(REPLAY))
    assert value.split() == ["inventory", "replay", "123,457", "records/s", "≥", "100,000", "met"]
    assert beside.strip().startswith("Spark's bare read: 250,000 records/s, of which it is 49.4 %")


@pytest.mark.parametrize(
    ("aim", "measured", "verdict"),
    [
        (aim_at_most(250), 250.0, "met"),
        (aim_at_most(250), 250.1, "missed"),
        (aim_at_least(100), 99.9, "missed"),
        (aim_at_least(100), 100.0, "met"),
    ],
)
def test_an_aim_is_met_at_its_bound(aim: Aim, measured: float, verdict: str) -> None:
    assert render_aim(aim, measured)[1] == verdict
