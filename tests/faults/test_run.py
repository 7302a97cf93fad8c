from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from faults import run
from faults.catalog import FAULTS, NOT_COVERED
from faults.fault import Fault, Refused, Scene
from faults.healing import Aim
from faults.processes import PARTS
from faults.run import UnknownFault, find, heal
from infra.settings import Settings
from infra.supervisor.parts import PARTS as PROCESSES

AIM = Aim({}, {})


def scene(*parts: str) -> Scene:
    return Scene(Settings(), dict.fromkeys(parts, 7), 1.0, Random(1))


def test_every_process_can_be_killed_and_paused() -> None:
    assert {part.name for part in PARTS} == set(PROCESSES)
    assert FAULTS.keys() >= {f"{what}-{part}" for what in ("kill", "pause") for part in PROCESSES}


def test_a_promise_has_limits_and_what_is_not_covered_has_a_reason() -> None:
    for one in FAULTS.values():
        assert 0 < one.promise.stale_seconds_max <= one.promise.healed_seconds_max <= 300
        assert one.promise.stays
    assert all(NOT_COVERED.values())


def test_a_process_that_does_not_run_cannot_be_killed() -> None:
    fault = find("kill-supplier")
    assert fault.refusal(scene("broker", "api")) == "supplier does not run in this shop"
    assert fault.refusal(scene("supplier")) is None


def test_what_is_unknown_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownFault, match=r"no fault kill-till.*kill-broker.*retail fault list"):
        find("kill-till")


def test_a_fault_that_is_refused_is_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def do(_: Scene) -> str:
        raise AssertionError("it was refused")

    refused = Fault("kill-lake", "", FAULTS["kill-lake"].promise, lambda _: "there is none", do)
    monkeypatch.setattr(run, "refuse_elsewhere", lambda _: None)
    with pytest.raises(Refused, match="kill-lake cannot be done here: there is none"):
        run.run(Settings(data_dir=tmp_path), refused, 1.0, Random(1), lambda *_: None)


def test_what_heals_in_time_says_nothing_is_lacking() -> None:
    lacking = iter(["broker does not run", "answers lack 3 records", None])
    healed, left = heal(30.0, lambda: AIM, lambda _: next(lacking))
    assert healed is not None
    assert (0 < healed < 30, left) == (True, "")


def test_what_does_not_heal_in_time_says_what_is_lacking() -> None:
    assert heal(0.0, lambda: AIM, lambda _: "broker does not run") == (None, "broker does not run")


def test_the_aim_is_taken_once_and_awaited() -> None:
    taken: list[Aim] = []

    def aims() -> Iterator[Aim]:
        yield Aim({}, {}, since_ms=1)
        yield Aim({}, {}, since_ms=2)

    coming = aims()

    def aim() -> Aim:
        if not taken:
            taken.append(AIM)
            raise TimeoutError("the broker is away")
        return next(coming)

    asked: list[int] = []

    def lacks(aim: Aim) -> str | None:
        asked.append(aim.since_ms)
        return "something" if len(asked) < 3 else None

    healed, _ = heal(30.0, aim, lacks)
    assert healed is not None
    assert asked == [1, 1, 1]


def test_drawn_faults_end_when_the_time_is_over() -> None:
    moments = iter([0.0, 0.0, 59.9, 60.0])
    done: list[str] = []

    def do(name: str, _: int) -> str:
        done.append(name)
        return name

    drawn = [("kill-api", 1), ("kill-broker", 2), ("pause-api", 3)]
    assert (
        list(run.take(drawn, 60.0, do, lambda: next(moments)))
        == done
        == ["kill-api", "kill-broker"]
    )
