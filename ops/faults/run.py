"""Runs a fault in a shop that is well, and measures until it is well again."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

import psutil
from confluent_kafka import KafkaException

from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import Settings
from infra.supervisor import parts
from infra.wait import ask_until
from ops.faults import cluster
from ops.faults.catalog import FAULTS
from ops.faults.fault import Checked, Fault, Outcome, Scene
from ops.faults.healing import Sight, fetch_ages, find_lacking, heal, take_aim, watch
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


@dataclass(frozen=True)
class Shop:
    """A running shop, wherever its processes are."""

    name: str
    settings: Settings
    """The settings by which this machine reaches Kafka and the API."""
    faults: Mapping[str, Fault]
    """What can be done in a shop of this kind, by name."""
    refuse_elsewhere: Callable[[], None]
    """Raises a UserError unless the shop runs and is of this kind."""
    find_parts: Callable[[], Mapping[str, int]]
    """The ids of the running processes, by the names of the parts."""


def find_local_shop(settings: Settings) -> Shop:
    """A shop that `make up` has started on this machine, under its process manager."""
    return Shop(
        f"the shop on {settings.data_dir}",
        settings,
        FAULTS,
        partial(parts.refuse_elsewhere, settings),
        partial(parts.find_parts, settings),
    )


def find_cluster(local: Settings) -> Shop:
    """A cluster of a project of docker compose, in which parts can be lost. Raises NoCluster."""
    settings = cluster.derive_settings(local, cluster.list_containers())
    return Shop(
        f"the cluster {cluster.find_project()}",
        settings,
        {fault.name: fault for fault in cluster.list_losses(settings.pipeline_names)},
        cluster.refuse_elsewhere,
        cluster.find_parts,
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
    return {name: fault.refusal(scene) for name, fault in shop.faults.items()}


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

    No fault begins afterwards. Raises as `list_possible` and `run`.
    """
    possible = [name for name, why in list_possible(shop, pause_seconds).items() if why is None]
    deadline = time.monotonic() + minutes * 60
    for name, number in draw(seed, possible):
        if time.monotonic() >= deadline:
            return
        yield run(shop, shop.faults[name], pause_seconds, Random(number), tell)


def draw(seed: int, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Names without end, each with the seed of its own draws; a seed always draws the same.

    Every name comes once before any comes again; the order is drawn anew each round.
    """
    chance = Random(seed)
    while names:
        for name in chance.sample(sorted(names), len(names)):
            yield name, chance.getrandbits(31)


def run(shop: Shop, fault: Fault, pause_seconds: float, chance: Random, tell: Tell) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements and the audit.

    Raises UserError where the shop is elsewhere or not well, and where the fault is refused.
    """
    shop.refuse_elsewhere()
    scene = Scene(shop.settings, shop.find_parts(), pause_seconds, chance)
    if (why := fault.refusal(scene)) is not None:
        raise UserError(f"{fault.name} cannot be done here: {why}")
    tell(fault.name, "the shop is prepared")
    with fault.prepare(scene) as prepared:
        outcome = measure(shop, fault, prepared, tell)
    tell(fault.name, "the audit reads the log")
    return replace(outcome, checked=compare_all(shop.settings))


def measure(shop: Shop, fault: Fault, prepared: Scene, tell: Tell) -> Outcome:
    """Do the fault and wait for its promise; returns the measurements. Raises UserError."""
    settings = prepared.settings
    with watch(settings.pipeline_names, partial(fetch_ages, settings)) as sight:
        tell(fault.name, "the shop is well before")
        await_well(shop, prepared, sight)
        # Looked up after the wait, during which a process may have been restarted.
        scene = replace(prepared, parts=shop.find_parts())
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
        healed, lacking = heal(
            fault.promise.healed_seconds_max,
            partial(take_aim, settings, scene.parts, ended, since_ms),
            lambda aim: find_lacking(settings, shop.find_parts(), aim) or fault.lacks(scene),
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
    """Return once all is well and the age of answers is known. Raises UserError."""
    healed, lacking = heal(
        WELL_SECONDS_MAX,
        lambda: take_aim(scene.settings, scene.parts),
        lambda aim: (
            find_lacking(scene.settings, shop.find_parts(), aim)
            or (None if sight.begun else "the API does not say how old its answers are")
        ),
    )
    if healed is None:
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
