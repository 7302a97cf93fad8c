"""Whether a shop settles: `python -m ops.bench.soak DAYS`.

A new world runs for DAYS days, with the present settings, data folder and ports. Samples record
the lag of the pipelines, the memory of the shop, and the size of the states on disk. At the end
the maxima of both halves are printed. The samples stay in the data folder, in `soak.json`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path

from generators.ticks import START_MS, TICK_MS, TICKS_PER_DAY
from infra.settings import Settings, read_settings
from infra.supervisor import orphans
from infra.wait import wait_for
from ops.bench.memory import GB, MB, count_bytes
from ops.bench.shops import Shop, read_lags, run_shop

DAY_SECONDS = TICKS_PER_DAY * TICK_MS / 1000
SAMPLES = 240
LOOK_SECONDS_MIN = 2.0
SLOWER_MAX = 3.0
"""The limit of the run, as a multiple of the time by the world's speed. The world's clock stands
still while the simulation is too slow."""

CURVES = {
    "lag": "records that the slowest pipeline is behind",
    "memory": "GB of memory, all processes together",
    "state": "MB of state on disk, with the changes of the last batches",
}

Sample = Mapping[str, float]
"""`day`, the age of the world in days, and the value of each of the CURVES then."""


def main() -> None:
    settings = read_settings()
    samples = sample_days(settings, days=float(sys.argv[1]))
    (settings.data_dir / "soak.json").write_text(json.dumps(samples) + "\n")
    for name, what in CURVES.items():
        print(f"{what}: {describe_halves([sample[name] for sample in samples])}")


def sample_days(settings: Settings, days: float) -> list[Sample]:
    """The samples of a world's first days; raises TimeoutError where they take too long."""
    samples: list[Sample] = []
    seconds = days * DAY_SECONDS / settings.simulator_speed
    with run_shop(settings) as shop:

        def has_lived_on() -> bool:
            with suppress(OSError):  # an API that does not answer is asked again
                samples.append(sample(shop))
                print(json.dumps(samples[-1]), flush=True)
            return bool(samples) and samples[-1]["day"] >= days

        pause = max(LOOK_SECONDS_MIN, seconds / SAMPLES)
        if not wait_for(has_lived_on, SLOWER_MAX * seconds, pause):
            raise TimeoutError(f"{days:g} days should pass in {seconds:,.0f} s, but did not")
    return samples


def sample(shop: Shop) -> Sample:
    """A sample of the shop; a pipeline that does not know its lag yet counts as not behind."""
    age_ms = shop.get("/v1/clock")["world_ms"] - START_MS
    home = shop.settings.data_dir
    return {
        "day": age_ms / 1000 / DAY_SECONDS,
        "lag": max((lag for lag in read_lags(shop) if isfinite(lag)), default=0),
        "memory": sum(count_bytes(process) for process in orphans.find(home)) / GB,
        "state": sum(map(measure_size, home.glob("pipelines/*/g*/checkpoint/state/**/*"))) / MB,
    }


def measure_size(file: Path) -> int:
    """Bytes of a file; 0 where Spark has removed it meanwhile."""
    with suppress(FileNotFoundError):
        return file.stat().st_size if file.is_file() else 0
    return 0


def describe_halves(heights: Sequence[float]) -> str:
    """The maxima of both halves: a settled curve is no higher in the second."""
    middle = len(heights) // 2
    first, second = max(heights[:middle], default=0), max(heights[middle:])
    return f"{first:,.2f} at the most in the first half, {second:,.2f} in the second"


if __name__ == "__main__":
    main()
