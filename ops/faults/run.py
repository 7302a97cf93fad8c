"""Runs a fault in a shop that is well, and measures until it is well again."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

import psutil
from confluent_kafka import KafkaException

from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor.parts import find_parts, refuse_elsewhere
from infra.wait import ask_until, wait_for
from ops.faults.catalog import FAULTS
from ops.faults.fault import Checked, Fault, Outcome, Scene
from ops.faults.healing import Sight, fetch_ages, heal, watch
from ops.verify.verdict import reach_verdict

WELL_SECONDS_MAX = 240.0
"""How long a shop may take to be well before a fault is done."""
PAUSE_SECONDS = 60.0
PAUSE_SECONDS_MAX = 600.0
MINUTES_MAX = 24 * 60
AUDIT_POLL_SECONDS = 2.0
AUDITED_SECONDS_MAX = 60.0
"""How long the ledger may take to have a page, and the quarantine to catch up."""

Tell = Callable[[str, str], None]
"""Receives the name of a fault and what the run waits for."""


def find(name: str) -> Fault:
    """Raises UserError."""
    if name not in FAULTS:
        raise UserError(
            f"There is no fault {name}. There are: {', '.join(FAULTS)}. What each promises: "
            "retail fault list"
        )
    return FAULTS[name]


def list_possible(settings: Settings, pause_seconds: float) -> Mapping[str, str | None]:
    """Every fault by name, and why it is not possible in this shop; None: it is.

    Raises NotLocal.
    """
    refuse_elsewhere(settings)
    scene = Scene(settings, find_parts(settings), pause_seconds, Random(0))
    return {name: fault.refusal(scene) for name, fault in FAULTS.items()}


def draw(seed: int, names: Sequence[str], minutes: float) -> Iterator[tuple[str, int]]:
    """Names until the time is over, each with the seed of its own draws.

    A seed always draws the same. Every name comes once before any comes again; the order is drawn
    anew each round.
    """
    chance, deadline = Random(seed), time.monotonic() + minutes * 60
    while names:
        for name in chance.sample(sorted(names), len(names)):
            if time.monotonic() >= deadline:
                return
            yield name, chance.getrandbits(31)


def run(
    settings: Settings, fault: Fault, pause_seconds: float, chance: Random, tell: Tell
) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements and the audit.

    Raises UserError where the shop is elsewhere or not well, and where the fault is refused.
    """
    refuse_elsewhere(settings)
    scene = Scene(settings, find_parts(settings), pause_seconds, chance)
    if (why := fault.refusal(scene)) is not None:
        raise UserError(f"{fault.name} cannot be done here: {why}")
    tell(fault.name, "the shop is prepared")
    with fault.prepare(scene) as prepared:
        outcome = measure(fault, prepared, tell)
    tell(fault.name, "the audit reads the log")
    return replace(outcome, checked=compare_all(settings))


def measure(fault: Fault, prepared: Scene, tell: Tell) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements. Raises UserError."""
    settings = prepared.settings
    with watch(settings.pipeline_names, partial(fetch_ages, settings)) as sight:
        tell(fault.name, "the shop is well before")
        await_well(prepared, sight)
        # Looked up after the wait, during which a process may have been restarted.
        scene = replace(prepared, parts=find_parts(settings))
        tell(fault.name, fault.does)
        since_ms, began = get_wall_ms(), time.monotonic()
        try:
            done = fault.do(scene)
        except (ProcessLookupError, psutil.NoSuchProcess) as error:
            raise UserError(
                f"{fault.name}: its process has just ended by itself. Run it again"
            ) from error
        over = time.monotonic()
        tell(fault.name, f"healing, within {fault.promise.healed_seconds_max:g} s")
        ended = fault.ends.intersection(scene.parts)
        limit = fault.promise.healed_seconds_max
        healed, lacking = heal(settings, scene.parts, limit, ended, since_ms)
    return Outcome(
        fault=fault.name,
        done=done,
        promise=fault.promise,
        lasted=over - began,
        unanswered=sight.unanswered_seconds,
        stale=sight.stale_seconds,
        healed=healed,
        lacking=lacking,
    )


def await_well(scene: Scene, sight: Sight) -> None:
    """Return once all is well and the age of answers is known. Raises UserError."""
    healed, lacking = heal(scene.settings, scene.parts, WELL_SECONDS_MAX)
    if healed is not None and not wait_for(lambda: sight.begun, WELL_SECONDS_MAX):
        lacking = "the API does not say how old its answers are"
    if lacking:
        raise UserError(
            f"A shop should be well before a fault is done in it, and within {WELL_SECONDS_MAX:g} s"
            f" it was not: {lacking}. See: make status"
        )
    sight.forget()


def compare_all(settings: Settings) -> tuple[Checked, ...]:
    """Every pipeline of the settings, compared as `retail verify` does."""
    return tuple(_compare(settings, name) for name in settings.pipeline_names)


def _compare(settings: Settings, pipeline: str) -> Checked:
    try:
        compared = ask_until(
            lambda: reach_verdict(settings, pipeline),
            lambda compared: compared.exact or not compared.agree,
            AUDITED_SECONDS_MAX,
            AUDIT_POLL_SECONDS,
        )
    except (UserError, TimeoutError, KafkaException) as error:
        return Checked(pipeline, exact=False, why=(str(error),))
    return Checked(pipeline, compared.exact, tuple(compared.list_deviations()))
