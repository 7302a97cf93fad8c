from dataclasses import replace

import pytest

from ops.bench import coefficients
from ops.bench.coefficients import (
    NotMeasured,
    build_figures,
    parse_coefficients,
    read_coefficients,
)
from ops.bench.figures import Figure
from tests.ops.bench.costs import COSTS, SHOP, USUAL


def build_all() -> tuple[Figure, ...]:
    pipelines = [
        figure for name, costs in COSTS.pipelines.items() for figure in build_figures(name, costs)
    ]
    return (*pipelines, *build_figures("shop", SHOP, "Twenty receipts/s."))


def test_costs_come_back_from_the_figures_that_they_became() -> None:
    assert parse_coefficients(build_all()) == COSTS


def test_other_figures_of_the_part_are_no_costs() -> None:
    held = Figure("100 stores, cores", 1.0, "cores")
    assert parse_coefficients((held, *build_all())) == COSTS


def test_costs_that_differ_are_told_apart() -> None:
    dear = build_figures("inventory", replace(USUAL, batch_ms=999))
    found = parse_coefficients((*build_all()[10:], *dear)).pipelines
    assert (found["inventory"].batch_ms, found["fraud"].batch_ms) == (999, 100)


def test_the_first_figure_says_how_it_was_measured() -> None:
    first, *others = build_figures("shop", SHOP, "Twenty receipts/s.")
    assert first.note == "Twenty receipts/s."
    assert {other.note for other in others} == {""}


def test_a_cost_that_is_missing_is_named_with_the_command_that_measures_it() -> None:
    without = tuple(one for one in build_all() if one.what != "fraud, CPU of a live line")
    with pytest.raises(NotMeasured, match=r"'fraud, CPU of a live line'.*bench --only sizing"):
        parse_coefficients(without)


def test_where_nothing_was_measured_there_are_no_coefficients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coefficients, "read_parts", dict)
    with pytest.raises(NotMeasured, match="should have 'sizing', but have not"):
        read_coefficients()
