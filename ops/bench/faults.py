"""A drawn sequence of faults in one world: how long the shop takes to recover from each."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import inf

from infra.settings import Settings
from ops.bench.figures import Figure, aim_at_least, aim_at_most
from ops.bench.scale import Scale
from ops.bench.shops import run_shop
from ops.faults.fault import Outcome
from ops.faults.run import LocalShop, run_drawn

SEED = 1


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    """The shop of `make up` with the lake, whose archive the audit needs where the log's head goes.

    The audit compares every pipeline with the log after each fault.
    """
    world = settings.model_copy(update={"data_dir": settings.data_dir / "faults", "lake": True})
    with run_shop(world) as shop:
        outcomes = list(
            run_drawn(
                LocalShop(shop.settings),
                SEED,
                inf,
                scale.pause_seconds,
                print_step,
                count=scale.faults,
            )
        )
    yield from summarize(outcomes, scale.faults)
    yield from compute_recoveries(outcomes)


def print_step(fault: str, what: str) -> None:
    print(f"{fault}: {what}", flush=True)


def summarize(outcomes: Sequence[Outcome], count: int) -> Iterator[Figure]:
    """How many faults there were, how many audits were not exact, and which promises broke."""
    yield Figure(
        "faults in one world",
        len(outcomes),
        "faults",
        aim_at_least(count),
        note=f"Drawn by seed {SEED}; each comes once before any comes again.",
    )
    yield Figure(
        "faults after which it was not exact",
        sum(not one.exact for one in outcomes),
        "faults",
        aim_at_most(0),
    )
    broken = [f"{one.fault}: {why}" for one in outcomes for why in one.broken]
    yield Figure(
        "promises not kept", len(broken), "promises", aim_at_most(0), note="\n".join(broken)
    )


def compute_recoveries(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """The longest recovery from each fault, against the limit that it promises."""
    by_fault: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_fault[one.fault].append(one)
    for name, times in sorted(by_fault.items()):
        healed = [one.healed for one in times if one.healed is not None]
        if healed:
            yield Figure(
                f"{name}, recovery",
                max(healed),
                "s",
                aim_at_most(times[0].promise.healed_seconds_max),
                note=f"The longest of {len(healed)}.",
            )
