import importlib

import pytest

from ops.bench import run
from ops.bench.figures import Aim, Figure, Outcome, Yardstick, aim_at_least, aim_at_most
from ops.bench.freshness import Sample, compute_percentile_ms
from ops.bench.report import describe_machine, render_aim, render_outcome

RATE = Figure(
    "replay",
    123_456.7,
    "records/s",
    aim_at_least(100_000),
    Yardstick("a bare read", 250_000),
    "Warm.",
)
RATIO = Figure("a batch", 1.26, "×", aim_at_most(1.2))
START = Figure("a start", 20, "s", None, Yardstick("a bare one", 12, aim_at_most(200)))


def render(*figures: Figure, failure: str | None = None) -> list[str]:
    return list(render_outcome("replay", Outcome(describe_machine(), "full", figures, failure)))


def test_a_table_shows_each_figure_its_verdict_what_it_is_held_beside_and_its_note() -> None:
    lines = render(RATE, RATIO, START)
    beside = "a bare read: 250,000 records/s, of which it is 49.4 %"
    assert f"| replay | 123,457 records/s | ≥ 100,000 | met | {beside} |" in lines
    assert "| a batch | 1.26 × | ≤ 1.2 | missed |  |" in lines
    beside = "a bare one: 12 s, of which it is 167 %; aim ≤ 200 %, met"
    assert f"| a start | 20 s |  |  | {beside} |" in lines
    assert "- *replay*: Warm." in lines


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


def test_a_part_that_failed_shows_what_it_had_and_why_there_is_no_more() -> None:
    lines = render(Figure("memory", 3.21, "GB"), failure="It broke.")
    assert "| memory | 3.21 GB |  |  |  |" in lines
    assert lines[-1] == "\nreplay failed. It broke."


@pytest.mark.parametrize("part", run.Part)
def test_every_part_is_a_module_that_measures(part: run.Part) -> None:
    assert callable(importlib.import_module(f"ops.bench.{part.value}").measure)


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 5), (51, 6), (99, 10), (100, 10)])
def test_a_percentile_is_a_sample_that_was_there(percent: float, expected: float) -> None:
    samples = [Sample(seconds, good=True) for seconds in range(10, 0, -1)]
    assert compute_percentile_ms(samples, percent) == 1000 * expected
