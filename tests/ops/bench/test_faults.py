from typing import Any

from ops.bench.faults import compute_recoveries, summarize
from ops.bench.report import render_rows
from ops.faults.fault import Checked, Outcome
from tests.ops.faults.showing import outcome

WRONG = (Checked("fraud", exact=False, why=("1 row differs",)),)


def measure(*outcomes: Outcome) -> dict[str, Any]:
    """Each figure, and whether its aim is met."""
    figures = [*summarize(outcomes, 2), *compute_recoveries(outcomes)]
    return {
        one.what: (one.measured, one.aim is not None and one.aim.is_met(one.measured))
        for one in figures
    }


def test_the_longest_recovery_of_each_fault_is_held_against_its_promise() -> None:
    measured = measure(outcome(healed=2.0), outcome(healed=9.0), outcome(fault="kill-api"))
    assert measured["kill-broker, recovery"] == (9.0, True)
    assert measured["kill-api, recovery"] == (60.0, True)
    assert measure(outcome(healed=60.1))["kill-broker, recovery"] == (60.1, False)


def test_what_was_not_kept_is_counted_and_named() -> None:
    late = outcome(healed=None, lacking="answers lack 3 records")
    assert measure(late, outcome(checked=WRONG)) == {
        "faults in one world": (2, True),
        "faults after which it was not exact": (1, False),
        "promises not kept": (2, False),
        "kill-broker, recovery": (60.0, True),
    }
    *_, broken = summarize([late], 1)
    assert any("lack 3 records" in line for line in render_rows(broken))


def test_fewer_faults_than_wanted_are_not_enough() -> None:
    assert measure(outcome()) == {
        "faults in one world": (1, False),
        "faults after which it was not exact": (0, True),
        "promises not kept": (0, True),
        "kill-broker, recovery": (60.0, True),
    }


def test_a_fault_from_which_nothing_recovered_has_no_time() -> None:
    assert "kill-broker, recovery" not in measure(outcome(healed=None))
