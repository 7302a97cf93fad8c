"""Runs a fault in a shop that is well, and measures until it is well again."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from random import Random
from typing import TypeVar

import psutil

from infra.errors import UserError
from infra.wait import wait_for
from ops.faults.audit import compare_all
from ops.faults.draw import draw
from ops.faults.fault import Fault, Outcome, Refused, Scene
from ops.faults.healing import Aim, Patient, find_lacking, take_aim
from ops.faults.shop import Shop
from ops.faults.watch import Sight, Watch, fetch_ages
from services.clock import get_wall_ms

WELL_SECONDS_MAX = 240.0
"""How long a shop may take to be well before a fault is done."""
PAUSE_SECONDS = 60.0
PAUSE_SECONDS_MAX = 600.0
MINUTES_MAX = 24 * 60
POLL_SECONDS = 0.25

Done = TypeVar("Done")
Tell = Callable[[str, str], None]
"""Receives the name of a fault and what the run waits for."""


class NotWell(UserError):
    """The shop is not well before the fault."""

    def __init__(self, lacking: str) -> None:
        super().__init__(
            f"A shop should be well before a fault is done in it, and within {WELL_SECONDS_MAX:g} s"
            f" it was not: {lacking}. See: make status"
        )


def find(faults: Mapping[str, Fault], name: str) -> Fault:
    """Raises UserError."""
    if name not in faults:
        raise UserError(
            f"There is no fault {name}. There are: {', '.join(faults)}. What each promises: "
            "retail fault list"
        )
    return faults[name]


def list_possible(shop: Shop, pause_seconds: float) -> Mapping[str, str | None]:
    """Every fault by name, and why it is not possible in this shop; None: it is.

    Raises NotLocal and NoCluster.
    """
    shop.refuse_elsewhere()
    scene = Scene(shop.settings, shop.find_parts(), pause_seconds, Random(0))
    return {name: one.refusal(scene) for name, one in shop.faults.items()}


def run_named(
    shop: Shop, names: Sequence[str], pause_seconds: float, tell: Tell
) -> Iterator[Outcome]:
    """Do these faults, one after the other. Raises UserError for another name, and as `run`."""
    chosen = [find(shop.faults, name) for name in names]
    for number, fault in enumerate(chosen):
        yield run(shop, fault, pause_seconds, Random(number), tell)


def run_drawn(
    shop: Shop, seed: int, minutes: float, pause_seconds: float, tell: Tell
) -> Iterator[Outcome]:
    """Do faults drawn from the possible ones, until the time is over.

    No fault begins afterwards. Raises NotLocal and NotWell.
    """
    yield from take(
        draw_possible(shop, seed, pause_seconds),
        minutes * 60,
        lambda name, number: run(shop, shop.faults[name], pause_seconds, Random(number), tell),
    )


def run_count(
    shop: Shop, seed: int, count: int, pause_seconds: float, tell: Tell
) -> Iterator[Outcome]:
    """Do so many faults drawn from the possible ones. Raises NotLocal and NotWell."""
    for name, number in islice(draw_possible(shop, seed, pause_seconds), count):
        yield run(shop, shop.faults[name], pause_seconds, Random(number), tell)


def draw_possible(shop: Shop, seed: int, pause_seconds: float) -> Iterator[tuple[str, int]]:
    """The possible faults as `draw` does it. Raises NotLocal."""
    possible = [name for name, why in list_possible(shop, pause_seconds).items() if why is None]
    return draw(seed, possible)


def take(
    drawn: Iterable[tuple[str, int]],
    seconds: float,
    do: Callable[[str, int], Done],
    moment: Callable[[], float] = time.monotonic,
) -> Iterator[Done]:
    """The outcome of each drawn fault; no fault begins when the time is over."""
    deadline = moment() + seconds
    for name, number in drawn:
        if moment() >= deadline:
            return
        yield do(name, number)


def run(shop: Shop, fault: Fault, pause_seconds: float, chance: Random, tell: Tell) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements and the audit.

    Raises NotLocal or NoCluster, NotWell and Refused.
    """
    shop.refuse_elsewhere()
    scene = Scene(shop.settings, shop.find_parts(), pause_seconds, chance)
    if (why := fault.refusal(scene)) is not None:
        raise Refused(fault.name, why)
    tell(fault.name, "the shop is prepared")
    with fault.prepare(scene) as prepared:
        outcome = measure(shop, fault, prepared, tell)
    tell(fault.name, "the audit reads the log")
    return replace(outcome, checked=compare_all(shop.settings))


def measure(shop: Shop, fault: Fault, prepared: Scene, tell: Tell) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements. Raises NotWell, Refused."""
    settings = prepared.settings
    with Watch(settings.pipeline_names, partial(fetch_ages, settings)) as sight:
        tell(fault.name, "the shop is well before")
        await_well(shop, prepared, sight)
        # Looked up after the wait, during which a process may have been restarted.
        scene = replace(prepared, parts=shop.find_parts())
        tell(fault.name, fault.does)
        since_ms, began = get_wall_ms(), time.monotonic()
        try:
            done = fault.do(scene)
        except (ProcessLookupError, psutil.NoSuchProcess) as error:
            raise Refused(fault.name, "its process has just ended by itself") from error
        over = time.monotonic()
        tell(fault.name, f"healing, within {fault.promise.healed_seconds_max:g} s")
        ended = fault.ends.intersection(scene.parts)
        healed, lacking = heal(
            fault.promise.healed_seconds_max,
            partial(take_aim, settings, scene.parts, ended, since_ms),
            lambda aim: find_lacking(settings, shop.find_parts, aim) or fault.lacks(scene),
        )
    return Outcome(
        fault=fault.name,
        does=fault.does,
        done=done,
        promise=fault.promise,
        lasted=over - began,
        unanswered=sight.unanswered_seconds,
        stale=sight.stale_seconds,
        healed=healed,
        lacking=lacking,
    )


def await_well(shop: Shop, scene: Scene, sight: Sight) -> None:
    """Return once all is well and the age of answers is known; raises NotWell."""
    healed, lacking = heal(
        WELL_SECONDS_MAX,
        lambda: take_aim(scene.settings, scene.parts),
        lambda aim: find_lacking(scene.settings, shop.find_parts, aim) or find_missing_age(sight),
    )
    if healed is None:
        raise NotWell(lacking)
    sight.forget()


def find_missing_age(sight: Sight) -> str | None:
    return None if sight.begun else "the API does not say how old its answers are"


def heal(
    seconds_max: float, aim: Callable[[], Aim], lacks: Callable[[Aim], str | None]
) -> tuple[float | None, str]:
    """The seconds until all was well, or None with what is still lacking at the limit."""
    began, patient = time.monotonic(), Patient(aim, lacks)
    if wait_for(patient.is_well, seconds_max, POLL_SECONDS):
        return time.monotonic() - began, ""
    return None, patient.lacking
