"""Faults that are done, and what their page says."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from infra.errors import UserError
from infra.settings import Settings, locate_root
from infra.supervisor.parts import PARTS as PROCESSES
from ops.cli.fault import render_row
from ops.faults import run
from ops.faults.catalog import FAULTS, PARTS
from ops.faults.fault import Checked, Fault, Outcome, Promise, Scene
from ops.faults.run import draw

PROMISE = Promise("views are served", answered=True, stale_seconds_max=30, healed_seconds_max=60)


KEPT = Outcome(
    fault="kill-broker",
    done="killed broker, process 7",
    promise=PROMISE,
    lasted=1.0,
    unanswered=0.0,
    stale=31.0,
    healed=60.0,
    lacking="",
    checked=(Checked("inventory", exact=True),),
)


def outcome(**others: Any) -> Outcome:
    return replace(KEPT, **others)


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


def test_the_page_of_the_last_run_leaves_no_fault_out() -> None:
    page = (locate_root() / "docs" / "faults.md").read_text()
    done = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    _, _, end = page.partition("## Not done")
    not_done = set(re.findall(r"`([a-z-]+)`", end)) & FAULTS.keys()
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


def test_every_process_can_be_killed_and_paused() -> None:
    assert {part.name for part in PARTS} == set(PROCESSES)
    assert FAULTS.keys() >= {f"{what}-{part}" for what in ("kill", "pause") for part in PROCESSES}


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shop of a broker alone."""
    monkeypatch.setattr(run, "refuse_elsewhere", lambda _: None)
    monkeypatch.setattr(run, "find_parts", lambda _: {"broker": 7})


def run_fault(fault: Fault) -> Outcome:
    return run.run(Settings(), fault, 1.0, Random(1), lambda *_: None)


def test_a_fault_that_is_refused_is_not_done() -> None:
    kept = FAULTS["kill-lake"].promise
    refused = Fault("kill-lake", "", kept, lambda _: "there is none", lambda _: pytest.fail("done"))
    with pytest.raises(UserError, match="kill-lake cannot be done here: there is none"):
        run_fault(refused)


@pytest.fixture
def well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shop that is always well, without one."""
    monkeypatch.setattr(run, "await_well", lambda *_: None)
    fresh = dict.fromkeys(Settings().pipeline_names, 0.0)
    monkeypatch.setattr(run, "fetch_ages", lambda _: fresh)
    monkeypatch.setattr(run, "heal", lambda *_: (0.0, ""))
    monkeypatch.setattr(run, "compare_all", lambda _: (Checked("inventory", exact=True),))


def test_a_shop_is_put_back_before_the_audit(well: None, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    @contextmanager
    def prepare(scene: Scene) -> Iterator[Scene]:
        order.append("prepared")
        yield replace(scene, pause_seconds=9.0)
        order.append("put back")

    def do(scene: Scene) -> str:
        order.append(f"done for {scene.pause_seconds:g} s")
        return "done"

    def audit(_: Settings) -> tuple[Checked, ...]:
        order.append("audited")
        return ()

    monkeypatch.setattr(run, "compare_all", audit)
    run_fault(replace(FAULTS["poison-record"], do=do, prepare=prepare))
    assert order == ["prepared", "done for 9 s", "put back", "audited"]


NAMES = ("kill-api", "kill-broker", "pause-api", "poison-record")


def draw_names(seed: int, count: int, names: Sequence[str] = NAMES) -> list[tuple[str, int]]:
    return list(islice(draw(seed, names, minutes=1.0), count))


def test_drawn_faults_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.0, 59.9, 60.0])
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    assert len(draw_names(1, 50)) == 2


def test_a_seed_always_draws_the_same_and_another_one_another_order() -> None:
    assert draw_names(7, 50) == draw_names(7, 50, NAMES[::-1])
    orders = {tuple(name for name, _ in draw_names(seed, 8)) for seed in range(20)}
    assert len(orders) > 10


def test_each_comes_once_before_any_comes_again() -> None:
    drawn = [name for name, _ in draw_names(3, 12)]
    for begin in range(0, 12, 4):
        assert set(drawn[begin : begin + 4]) == set(NAMES)
    assert draw_names(1, 1, ()) == []
