"""How long reads of one shelf take while receipts flow."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from http import HTTPStatus
from random import Random

from infra.settings import Settings
from ops.bench.arrivals import Sample, compute_percentile_ms, describe_failures, run_arrivals
from ops.bench.client import Client
from ops.bench.figures import Figure, Yardstick, aim_at_most
from ops.bench.scale import Scale
from ops.bench.shops import ReceiptRate, derive_settings, run_shop

RECEIPTS_PER_SECOND = 100.0
READS_PER_SECOND = 200.0
SHELVES = 500
SEED = 1


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = derive_settings(settings, "reads", RECEIPTS_PER_SECOND)
    with run_shop(own):
        yield from measure_reads("one shelf read", own, scale)


def measure_reads(what: str, settings: Settings, scale: Scale) -> Iterator[Figure]:
    """Reads of a running shop, beside its receipts."""
    shelves, health, rate = asyncio.run(read(settings, scale))
    yield Figure(
        f"{what}, p50",
        compute_percentile_ms(shelves, 50),
        "ms",
        yardstick=Yardstick("a read of /healthz", compute_percentile_ms(health, 50)),
    )
    yield Figure(
        f"{what}, p99",
        compute_percentile_ms(shelves, 99),
        "ms",
        aim_at_most(25),
        Yardstick("a read of /healthz", compute_percentile_ms(health, 99)),
        f"{len(shelves):,} reads, {READS_PER_SECOND:g}/s, each timed from when it was due, beside "
        f"{rate:,.0f} receipts/s, after {scale.warm_seconds:g} s." + describe_failures(shelves),
    )


async def read(
    settings: Settings, scale: Scale
) -> tuple[Sequence[Sample], Sequence[Sample], float]:
    """Reads of shelves, then of the health route alone, and the rate of receipts beside them."""
    client, draw = Client(settings), Random(SEED)
    page = (await client.get(f"/v1/stock?limit={SHELVES}")).document["items"]
    shelves = [f"/v1/stock/{row['store_id']}/{row['sku']}" for row in page]
    any_shelf = time_requests(client, lambda: draw.choice(shelves))
    await run_arrivals(any_shelf, READS_PER_SECOND, scale.warm_seconds)
    rate = ReceiptRate(settings)
    reads = await run_arrivals(any_shelf, READS_PER_SECOND, scale.read_seconds)
    health = time_requests(client, lambda: "/healthz")
    return reads, await run_arrivals(health, READS_PER_SECOND, scale.read_seconds), rate()


def time_requests(
    client: Client, path: Callable[[], str]
) -> Callable[[int, float], Awaitable[Sample]]:
    async def time_request(_number: int, due: float) -> Sample:
        answer = await client.get(path())
        seconds = asyncio.get_running_loop().time() - due
        return Sample(seconds, answer.status == HTTPStatus.OK)

    return time_request
