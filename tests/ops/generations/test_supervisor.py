from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from infra.errors import UserError
from infra.settings import Settings
from ops.generations import supervisor
from ops.generations.record import Generation, Generations, Name, State
from ops.generations.supervisor import FAILURES_MAX, STEADY_SECONDS, Child, Supervisor
from tests.pipelines.generations import create_generations

AT_ONCE = 0.0
ENOUGH_SECONDS = 100.0
"""For ten attempts, each a second later than the one before."""
PROMOTED, CANDIDATE = 1, 2


class Shop:
    """A control topic, a clock that goes on by a second with each look, and processes.

    The processes of a generation live as long as its list says, one after the other; the next one
    lives for ever. After so many seconds no generation is wanted any more. A generation ends for
    good, which its process outlives, at the second that a test names.
    """

    def __init__(
        self,
        *states: State,
        names: Sequence[str] = ("inventory",),
        seconds: float = ENOUGH_SECONDS,
        **lives: Iterable[float],
    ) -> None:
        self.now = 0.0
        self._seconds = seconds
        self.names = names
        row = create_generations(*states).to_row()
        self._generations = {name: Generations.parse({**row, "pipeline": name}) for name in names}
        self.spawned: Counter[int] = Counter()
        self.begun: list[list[Name]] = []
        self.ends: dict[Name, float] = {}
        self.refuses, self.asked = False, 0
        self._lives = {int(name.removeprefix("g")): deque(each) for name, each in lives.items()}

    @property
    def generations(self) -> Generations:
        return self._generations["inventory"]

    def read(self) -> dict[str, Generations]:
        self.now += 1
        return self._generations if self.now <= self._seconds else {}

    def spawn(self, _settings: Settings, _code: Path, running: Sequence[Generation]) -> Child:
        [number] = {generation.number for generation in running}
        self.spawned[number] += 1
        self.begun.append([generation.name for generation in running])
        lives = self._lives.get(number)
        end = self.now + lives.popleft() if lives else float("inf")
        process = SimpleNamespace(poll=lambda: None if self.now <= end else 1, returncode=1)
        return Child(cast(Any, process), running, started=self.now)

    def ensure_generation(self, _settings: Settings, name: str) -> Sequence[Generation]:
        self.asked += 1
        if self.refuses:
            raise UserError("the log no longer begins at zero")
        generations = self._generations[name]
        added = generations.plus(replace(generations.members[0], number=generations.newest + 1))
        self._generations[name] = added.to(State.CATCHING_UP, generations.newest + 1)
        return self._generations[name].members

    def find_end(self, _settings: Settings, generation: Generation) -> str | None:
        has_ended = self.now >= self.ends.get(generation.name, float("inf"))
        return "Spark dropped 1 records" if has_ended else None

    def invalidate(self, _settings: Settings, generation: Generation, reason: str) -> None:
        self._generations[generation.pipeline] = self._generations[generation.pipeline].to(
            State.INVALID, generation.number, reason
        )


def group_by_number(_settings: Settings, running: Sequence[Generation]) -> Any:
    return {
        Path(f"g{number}"): [generation for generation in running if generation.number == number]
        for number in sorted({generation.number for generation in running})
    }


Run = Callable[[Shop], None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Let a supervisor look after the shop, until nothing is wanted any more."""

    def of(shop: Shop) -> None:
        monkeypatch.setattr(supervisor, "LOOK_SECONDS", 0)
        monkeypatch.setattr(supervisor, "Control", lambda _settings: shop)
        for name in ("spawn", "invalidate", "ensure_generation", "find_end"):
            monkeypatch.setattr(supervisor, name, getattr(shop, name))
        monkeypatch.setattr(supervisor, "is_lost", lambda *_: False)
        monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: shop.now))
        monkeypatch.setattr(supervisor, "group_by_code", group_by_number)
        Supervisor(Settings(data_dir=tmp_path), shop.names).run()

    return of


def test_a_process_that_ends_less_often_is_started_again(run: Run) -> None:
    run(shop := Shop(State.PROMOTED, g1=[AT_ONCE] * (FAILURES_MAX - 1)))
    assert shop.spawned[PROMOTED] == FAILURES_MAX


@pytest.mark.parametrize("ends", [FAILURES_MAX, FAILURES_MAX + 1, 10 * FAILURES_MAX])
def test_a_promoted_generation_that_keeps_ending_ends_the_supervisor(run: Run, ends: int) -> None:
    shop = Shop(State.PROMOTED, g1=[AT_ONCE] * ends)
    with pytest.raises(UserError, match=f"inventory g1 ended {FAILURES_MAX} times in a row"):
        run(shop)
    assert shop.spawned[PROMOTED] == FAILURES_MAX


@pytest.mark.parametrize("ends", [FAILURES_MAX, 10 * FAILURES_MAX])
def test_a_candidate_that_keeps_ending_is_given_up_alone(run: Run, ends: int) -> None:
    run(shop := Shop(State.PROMOTED, State.READY, g2=[AT_ONCE] * ends))
    assert shop.spawned == {PROMOTED: 1, CANDIDATE: FAILURES_MAX}
    given_up = shop.generations.of(CANDIDATE)
    assert given_up is not None
    assert given_up.reason == f"its process ended {FAILURES_MAX} times in a row"
    assert shop.generations.promoted is not None


def test_a_promoted_generation_that_has_ended_is_replaced(run: Run) -> None:
    shop = Shop(State.PROMOTED)
    shop.ends = {("inventory", PROMOTED): 0}
    run(shop)
    assert (shop.asked, shop.spawned) == (1, {CANDIDATE: 1})


def test_what_ends_within_seconds_is_replayed_by_one_process(run: Run) -> None:
    """Three pipelines, each of which ends four seconds after the one before."""
    shop = Shop(State.PROMOTED, names=("inventory", "fraud", "visits"))
    shop.ends = {(name, PROMOTED): 4.0 * place for place, name in enumerate(shop.names, start=1)}
    run(shop)
    assert shop.begun == [
        [(name, number) for name in shop.names] for number in (PROMOTED, CANDIDATE)
    ]


def test_its_replay_is_replaced_too_once_it_has_ended(run: Run) -> None:
    shop = Shop(State.PROMOTED, State.READY)
    shop.ends = {("inventory", number): 0 for number in (PROMOTED, CANDIDATE)}
    run(shop)
    assert shop.generations.is_invalid(CANDIDATE)
    assert (shop.asked, shop.spawned) == (1, {CANDIDATE + 1: 1})


def test_a_replay_that_is_refused_is_asked_for_once_and_the_others_go_on(run: Run) -> None:
    shop = Shop(State.RETIRED, State.PROMOTED)
    shop.ends, shop.refuses = {("inventory", 2): 0}, True
    run(shop)
    assert (shop.asked, shop.spawned) == (1, {1: 1})


def test_a_process_that_lived_for_a_while_is_no_failure_in_a_row(run: Run) -> None:
    lives = [STEADY_SECONDS] * (10 * FAILURES_MAX)
    run(shop := Shop(State.PROMOTED, seconds=2 * sum(lives), g1=lives))
    assert shop.spawned[PROMOTED] == len(lives) + 1
