from typing import Any

import pytest

from ops.faults.fault import Checked
from tests.ops.faults.showing import outcome


def test_what_is_as_promised_is_kept_up_to_its_limits() -> None:
    assert outcome().broken == ()
    assert outcome().exact


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
    assert outcome(**measured).to_document()["broken"] == [broken]


def test_what_was_not_compared_is_not_exact() -> None:
    assert not outcome(checked=()).exact
