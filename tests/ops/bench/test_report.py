import json
from typing import Any

import pytest

from ops.bench.figures import Aim, Figure, Outcome, Yardstick, aim_at_least, aim_at_most
from ops.bench.part import FIGURE
from ops.bench.report import WIDTH, build_document, render_lines, render_rows
from ops.bench.scale import QUICK

REPLAY = Figure(
    "inventory replay",
    123_456.7,
    "records/s",
    aim_at_least(100_000, stretch=150_000),
    Yardstick("Spark's bare read", 250_000, aim_at_least(25, stretch=40)),
    "Warm, median of 3. " * 10,
)


def test_a_row_says_value_aim_and_verdict_and_the_next_one_the_yardstick() -> None:
    value, ratio, *_ = (line.split() for line in render_rows(REPLAY))
    assert value == ["inventory", "replay", "123,457", "records/s", "≥", "100,000", "met"]
    assert " ".join(ratio) == "of Spark's bare read 49.4 % of 250,000 ≥ 25 % stretch met"


def test_no_row_is_wider_than_the_terminal() -> None:
    widest = Figure("x" * 30, 1_234_567.0, "receipts/s", aim_at_least(1_000_000), note="word " * 60)
    failed = Outcome("replay", (REPLAY, widest), 1.0, "It ended:\n" + "trace " * 60)
    assert max(map(len, render_lines(failed))) <= WIDTH


@pytest.mark.parametrize(
    ("aim", "measured", "text"),
    [
        (aim_at_most(250), 250.0, "met"),
        (aim_at_most(250), 250.1, "missed"),
        (aim_at_least(100, stretch=150), 99.9, "missed"),
        (aim_at_least(100, stretch=150), 149.0, "met"),
        (aim_at_least(100, stretch=150), 150.0, "stretch met"),
    ],
)
def test_an_aim_is_met_at_its_bound(aim: Aim, measured: float, text: str) -> None:
    [row] = render_rows(Figure("a rate", measured, "1/s", aim))
    assert row.endswith(text)


def test_a_part_that_failed_shows_what_it_had_and_why_there_is_no_more() -> None:
    printed = list(
        render_lines(Outcome("memory", (Figure("memory", 3.21, "GB"),), 9.0, "It broke."))
    )
    assert printed[0].split() == ["memory", "3.21", "GB"]
    assert printed[1].strip() == "memory failed. It broke."


def test_the_document_holds_the_verdicts_and_survives_json() -> None:
    written = build_document(QUICK, {"cores": 2}, [Outcome("replay", (REPLAY,), 9.0)])
    [part] = json.loads(json.dumps(written))["parts"]
    [figure] = part["figures"]
    assert (figure["met"], figure["stretch_met"]) == (True, False)
    assert (figure["yardstick"]["met"], figure["yardstick"]["stretch_met"]) == (True, True)


def test_a_figure_comes_out_of_a_part_as_it_went_in() -> None:
    plain: Any = FIGURE.validate_json(FIGURE.dump_json(REPLAY))
    assert plain == REPLAY
