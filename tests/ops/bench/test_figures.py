import importlib

import pytest

from ops.bench import run
from ops.bench.figures import (
    Figure,
    Yardstick,
    aim_at_least,
    aim_at_most,
    describe_machine,
    render_figures,
)

BESIDE = Yardstick("a bare read", 250_000, aim_at_most(40))
RATE = Figure("replay", 123_456.7, "records/s", aim_at_least(100_000), BESIDE, "Warm.")
RATIO = Figure("a batch", 1.26, "×", aim_at_most(1.2), note="Of twenty\nreceipts.")


def test_a_table_shows_figure_verdict_yardstick_and_note() -> None:
    beside = "a bare read: 250,000 records/s, of which it is 49.4 %; aim ≤ 40 %, missed"
    assert list(render_figures([RATE, RATIO]))[2:] == [
        f"| replay | 123,457 records/s | ≥ 100,000 | met | {beside} |",
        "| a batch | 1.26 × | ≤ 1.2 | missed |  |",
        "",
        f"Measured on {describe_machine()}.",
        "",
        "- *replay*: Warm.",
        "- *a batch*: Of twenty receipts.",
    ]


def test_an_aim_is_met_at_its_bound() -> None:
    most, least = aim_at_most(250), aim_at_least(100)
    assert [most.render(measured)[1] for measured in (250.0, 250.1)] == ["met", "missed"]
    assert [least.render(measured)[1] for measured in (100.0, 99.9)] == ["met", "missed"]


@pytest.mark.parametrize("part", run.Part)
def test_every_part_is_a_module_that_measures(part: run.Part) -> None:
    assert callable(importlib.import_module(f"ops.bench.{part.value}").measure)
