"""A threshold that is set on the command line is set in the candidate's copy, and nowhere else."""

import pytest

from infra.errors import UserError
from infra.settings import locate_root
from ops.replay.thresholds import edit


def test_only_the_line_of_the_threshold_changes() -> None:
    [(file, text)] = edit(locate_root(), "fraud", ["card_sales_per_window_max=3"]).items()
    before = (locate_root() / file).read_text().splitlines()
    [changed] = [
        (old, new) for old, new in zip(before, text.splitlines(), strict=True) if old != new
    ]
    assert "card_sales_per_window_max: int = 5" in changed[0]
    assert changed[1] == changed[0].replace("= 5", "= 3")


def test_nothing_set_is_nothing_changed() -> None:
    assert edit(locate_root(), "inventory", []) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("mood=3", "expected one of .*card_sales_per_window_max"),
        ("card_sales_per_window_max=some", "whole number, found 'some'"),
        ("card_sales_per_window_max", "NAME=VALUE"),
        ("card_sales_window=3", "expected one of"),
    ],
)
def test_what_cannot_be_set_is_said(setting: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        edit(locate_root(), "fraud", [setting])


def test_a_pipeline_without_thresholds_says_so() -> None:
    with pytest.raises(UserError, match="has no thresholds"):
        edit(locate_root(), "inventory", ["low=3"])
