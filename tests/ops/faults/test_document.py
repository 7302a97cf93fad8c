import re
from typing import Any

import pytest

from infra.settings import locate_root
from ops.faults.catalog import FAULTS, NOT_COVERED
from ops.faults.document import render_page, render_row
from ops.faults.fault import Checked
from tests.ops.faults.showing import outcome

RAN_ON = {"cores": 2, "memory_gib": 24.0}
NOT_DONE = {"kill-lake": "lake does not run in this shop"}


def test_a_row_says_fault_promise_time_and_verdict() -> None:
    promise = "healed 60 s, stale 30 s, answered"
    expected = ("kill-broker", promise, "1.0 s", "4.2 s", "31.0 s", "", "exact")
    assert render_row(outcome(healed=4.25)) == expected


def test_a_row_says_what_was_not_kept() -> None:
    *_, late = render_row(outcome(healed=None))
    assert late == "BROKEN, exact"
    wrong = (Checked("inventory", exact=True), Checked("fraud", exact=False, why=("1 row",)))
    *_, differs = render_row(outcome(checked=wrong))
    assert differs == "NOT EXACT: fraud"


def test_the_page_names_every_broken_promise_and_everything_that_is_not_covered() -> None:
    page = render_page([outcome(healed=61.0)], NOT_DONE, RAN_ON, "a shop", "retail fault run")
    assert "## Promises that were not kept\n\n- `kill-broker`: healed within 60 s, it took" in page
    assert "- `kill-lake`: lake does not run in this shop." in page
    assert all(f"- {name}: {why}." in page for name, why in NOT_COVERED.items())
    kept = render_page([outcome()], NOT_DONE, RAN_ON, "a shop", "retail fault run")
    assert "not kept" not in kept


def test_the_page_of_the_last_run_leaves_no_fault_out() -> None:
    page = (locate_root() / "docs" / "faults.md").read_text()
    done = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    _, _, end = page.partition("## Not covered")
    not_done = set(re.findall(r"^- `([a-z-]+)`: ", end, re.MULTILINE))
    assert done | not_done == FAULTS.keys()
    assert not done & not_done


def test_what_is_as_promised_is_kept_up_to_its_limits_and_exact_if_it_was_compared() -> None:
    assert outcome().broken == ()
    assert outcome().exact
    assert not outcome(checked=()).exact


@pytest.mark.parametrize(
    ("measured", "why"),
    [
        ({"unanswered": 0.4}, "for 0.4 s there was no answer"),
        ({"stale": 31.1}, "one was 31.1 s old, and the fault took 1.0 s"),
        ({"healed": 60.1}, "healed within 60 s, it took 60.1 s"),
        ({"healed": None, "lacking": "broker does not run"}, "within 60 s: broker does not run"),
        (
            {"checked": (Checked("inventory", exact=False, why=("3 rows differ: S001/A",)),)},
            "inventory is exact: 3 rows differ: S001/A",
        ),
    ],
)
def test_each_promise_that_is_not_kept_is_named(measured: dict[str, Any], why: str) -> None:
    [broken] = outcome(**measured).broken
    assert why in broken
