"""The memory of the default shop in its second hour, and whether it still grows then."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from statistics import linear_regression

import psutil

from infra.processes import get_name, list_descendants
from infra.settings import Settings
from infra.supervisor import orphans
from ops.bench.figures import Figure, aim_at_most
from ops.bench.shops import GB, MB, Shop, count_bytes, let_time_pass, run_shop

HOUR_SECONDS = 3_600
"""The age of a shop before the growth of its memory counts."""
SLOPE_SECONDS = 900
"""How long that growth is watched."""
AGES = {"ten minutes": 1 / 6, "half an hour": 1 / 2, "an hour": 1.0}
"""The ages of a shop at which its memory is shown, as parts of an hour."""
SAMPLES = 30
MEMORY_GB_MAX = 3.5
SLOPE_MB_MAX = 50
"""By how many MB a shop may grow in an hour that counts as flat: a sixtieth of its memory."""


def measure(settings: Settings, share: float) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "hour"})
    with run_shop(own) as shop:
        yield from measure_ages(shop, share)
        yield measure_slope(shop, share)


def measure_ages(shop: Shop, share: float) -> Iterator[Figure]:
    """The memory of all processes at each of the AGES; the shop is young."""
    passed = 0.0
    for age, part in AGES.items():
        let_time_pass(part * share * HOUR_SECONDS - passed)
        passed = part * share * HOUR_SECONDS
        programs = count_by_program(shop)
        shares = ", ".join(f"{name} {size / MB:,.0f}" for name, size in programs.most_common())
        yield Figure(
            f"memory after {age}",
            programs.total() / GB,
            "GB",
            aim_at_most(MEMORY_GB_MAX),
            note=f"Shared pages counted once. In MB: {shares}.",
        )


def measure_slope(shop: Shop, share: float) -> Figure:
    """How the memory changes from now on."""
    seconds = share * SLOPE_SECONDS
    pause = seconds / SAMPLES
    samples: list[tuple[float, Counter[str]]] = []
    for number in range(SAMPLES):
        let_time_pass(pause)
        samples.append((number * pause / 3600, count_by_program(shop)))
    hours, counted = zip(*samples, strict=True)
    totals = [each.total() / MB for each in counted]
    slopes = ", ".join(
        f"{name} {linear_regression(hours, [each[name] / MB for each in counted]).slope:+.0f}"
        for name in sorted(counted[-1])
    )
    return Figure(
        "its slope from then on",
        linear_regression(hours, totals).slope,
        "MB an hour",
        aim_at_most(SLOPE_MB_MAX),
        note=f"A line through {SAMPLES} samples in {seconds / 60:.0f} minutes, which "
        f"lay between {min(totals) / 1000:.2f} and {max(totals) / 1000:.2f} GB. "
        f"Of these: {slopes}.",
    )


def count_by_program(shop: Shop) -> Counter[str]:
    """The bytes of memory of the shop's processes, by the component that started them.

    Java and the rest of the pipelines count apart.
    """
    counted: Counter[str] = Counter()
    owners = {
        pid: name
        for name, component in shop.list_processes().items()
        for pid in [component.pid, *(each.pid for each in list_descendants(component.pid))]
    }
    for process in orphans.find(shop.settings.data_dir):
        owner = owners.get(process.pid, "the rest")
        java = owner == "pipelines" and get_name(process) == "java"
        with suppress(psutil.NoSuchProcess):
            counted["Spark's Java" if java else owner] += count_bytes(process)
    return counted
