"""Whether a replay keeps its rate as the log grows."""

from collections.abc import Iterator
from statistics import median

from infra.settings import Settings
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, Yardstick, aim_at_most
from ops.bench.receipts import LINES, publish
from ops.bench.replay import Replays, open_replays
from ops.bench.scale import Scale

DEVIATION_PERCENT_MAX = 15.0
WARM_REPLAYS = 2
"""The smallest log is replayed first: it must not be the one for which Java still compiles."""


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "sizes"})
    rates: list[float] = []
    with run_broker(own), open_replays(own) as again:
        published = 0
        for size in scale.sizes:
            publish(own, published, size)
            published = size
            if not rates:
                for _ in range(WARM_REPLAYS):
                    again.replay()  # discarded
            figure = measure_size(again, size, scale.size_replays)
            rates.append(figure.measured)
            yield figure
    yield Figure(
        "apart from one rate",
        100 * (max(rates) - min(rates)) / (max(rates) + min(rates)),
        "%",
        aim_at_most(DEVIATION_PERCENT_MAX),
        note="There is one rate from which none of these differs by more.",
    )


def measure_size(again: Replays, size: int, times: int) -> Figure:
    passes = [(again.read_bare(), again.replay()) for _ in range(times)]
    bare, replayed = (size / median(seconds) for seconds in zip(*passes, strict=True))
    return Figure(
        f"replay of {size:,} receipts",
        replayed,
        "receipts/s",
        yardstick=Yardstick("Spark's bare read", bare),
        note=f"Warm, median of {times}; all different, {LINES} lines each.",
    )
