from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest

from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor.parts import PARTS as PROCESSES
from ops.faults import run
from ops.faults.catalog import FAULTS, PARTS
from ops.faults.fault import Checked, Fault, Outcome, Scene
from ops.faults.healing import Aim, heal
from ops.faults.run import Shop, draw
from tests.ops.faults.showing import outcome

SHOP = Shop("a shop of one process", Settings(), FAULTS, lambda: None, lambda: {"broker": 7})


def test_every_process_can_be_killed_and_paused() -> None:
    assert {part.name for part in PARTS} == set(PROCESSES)
    assert FAULTS.keys() >= {f"{what}-{part}" for what in ("kill", "pause") for part in PROCESSES}


def run_fault(fault: Fault) -> Outcome:
    return run.run(SHOP, fault, 1.0, Random(1), lambda *_: None)


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
    monkeypatch.setattr(run, "take_aim", lambda *_: Aim({}, {}))
    monkeypatch.setattr(run, "find_lacking", lambda *_: None)
    monkeypatch.setattr(run, "compare_all", lambda _: (Checked("inventory", exact=True),))


def test_what_a_fault_promises_beside_may_be_broken(well: None) -> None:
    poison, lacking = FAULTS["poison-record"], "a replay is not refused"
    at_once = replace(poison.promise, healed_seconds_max=0.0)
    fault = replace(poison, promise=at_once, do=lambda _: "done", lacks=lambda _: lacking)
    assert run_fault(fault).broken == (f"healed within 0 s: {lacking}",)


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


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the faults that are done, in a shop where two are possible."""
    names: list[str] = []
    monkeypatch.setattr(run, "list_possible", lambda *_: dict.fromkeys(("kill-api", "kill-lake")))

    def note(_: Shop, fault: Fault, *__: object) -> Outcome:
        names.append(fault.name)
        return outcome()

    monkeypatch.setattr(run, "run", note)
    return names


def test_drawn_faults_end_with_the_time(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.0, 59.9, 60.0])
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    assert len(list(run.run_drawn(SHOP, 1, 1.0, 1.0, lambda *_: None))) == len(done) == 2


NAMES = ("kill-api", "kill-broker", "pause-api", "poison-record")


def test_a_seed_always_draws_the_same_and_another_one_another_order() -> None:
    assert list(islice(draw(7, NAMES), 50)) == list(islice(draw(7, NAMES[::-1]), 50))
    orders = {tuple(name for name, _ in islice(draw(seed, NAMES), 8)) for seed in range(20)}
    assert len(orders) > 10


def test_each_comes_once_before_any_comes_again() -> None:
    drawn = [name for name, _ in islice(draw(3, NAMES), 12)]
    for begin in range(0, 12, 4):
        assert set(drawn[begin : begin + 4]) == set(NAMES)
    assert list(draw(1, ())) == []


def test_the_aim_is_taken_once_and_awaited() -> None:
    first, second = (Aim({}, {}, since_ms=number) for number in (1, 2))
    aim = Mock(side_effect=[TimeoutError("the broker is away"), first, second])
    lacks = Mock(side_effect=["something", "something", None])
    healed, _ = heal(30.0, aim, lacks)
    assert healed is not None
    assert lacks.call_args_list == [call(first)] * 3
