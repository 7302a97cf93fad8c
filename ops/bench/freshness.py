"""The time from a published receipt to an answer of the API that holds it."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from contracts import ALERTS, RECEIPTS, STORE_SALES, VISITS, Contract
from infra.settings import Settings
from ops.bench.arrivals import Sample, compute_percentile_ms, describe_failures, run_arrivals
from ops.bench.client import Client
from ops.bench.figures import Figure, aim_at_most
from ops.bench.scale import Scale
from ops.bench.shops import ReceiptRate, derive_settings, list_pipeline_settings, run_shop

RECEIPTS_PER_SECOND = 300.0
PROBES_PER_SECOND = 5.0
STORE, SKU = "S001", "SKU-00001"
STOCK = f"/v1/stock/{STORE}/{SKU}?"


def find_row_path(view: Contract) -> str:
    """The path of any row of the view."""
    return f"/v1/views/{view.name}/rows?limit=1&"


ALERT = find_row_path(ALERTS)
VIEWS = {
    "inventory": STOCK,
    "fraud": ALERT,
    "analytics": find_row_path(STORE_SALES),
    "visits": find_row_path(VISITS),
}
"""A path of each pipeline that reads receipts."""


@dataclass(frozen=True)
class Probe:
    """A receipt that was posted."""

    posting_seconds: float
    """Seconds until the API acknowledges the receipt."""
    seen: Sequence[Sample]
    """Seconds from the acknowledgement until an answer holds it: the shelf's, then the alerts'."""

    @property
    def stock(self) -> Sample:
        return self.seen[0]

    @property
    def sent(self) -> Sample:
        """From before it was posted until the shelf holds it."""
        return Sample(self.posting_seconds + self.stock.seconds, self.stock.good)


AIMS = {"alone": (250, 600), "with all": (300, 800)}
"""Aims for p50 and p99 of the shelf, in milliseconds."""
ALERT_AIM = 2_000
"""Aim for p99 of the alerts, in milliseconds."""


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    for word, own in list_pipeline_settings(settings):
        yield from measure_freshness(
            word, derive_settings(own, f"freshness-{word}", RECEIPTS_PER_SECOND), scale
        )


def measure_freshness(word: str, settings: Settings, scale: Scale) -> Iterator[Figure]:
    median, slow = map(aim_at_most, AIMS[word])
    paths = [STOCK, ALERT] if "fraud" in settings.pipeline_names else [STOCK]
    with run_shop(settings):
        probes, rate = asyncio.run(send_probes(settings, scale, paths))
    visible, *alerts = zip(*(probe.seen for probe in probes), strict=True)
    sent = [probe.sent for probe in probes]
    p50, p99 = compute_percentile_ms(sent, 50), compute_percentile_ms(sent, 99)
    note = (
        f"{len(probes)} receipts posted beside {rate:,.0f} receipts/s, after {scale.warm_seconds:g}"
        " s: from the acknowledgement to the answer of a read with min_offset. From before the "
        f"post: p50 {p50:,.0f} ms, p99 {p99:,.0f} ms." + describe_failures(visible)
    )
    name = f"visible, pipeline {word}"
    yield Figure(f"{name}, p50", compute_percentile_ms(visible, 50), "ms", median)
    yield Figure(f"{name}, p99", compute_percentile_ms(visible, 99), "ms", slow, note=note)
    for known in alerts:
        yield Figure(
            "alerts know a receipt, p99",
            compute_percentile_ms(known, 99),
            "ms",
            aim_at_most(ALERT_AIM),
            note="the same receipts, from the acknowledgement to the answer of the alerts' view; "
            f"p50 {compute_percentile_ms(known, 50):,.0f} ms." + describe_failures(known),
        )


async def send_probes(
    settings: Settings,
    scale: Scale,
    paths: Sequence[str],
    per_second: float = PROBES_PER_SECOND,
) -> tuple[Sequence[Probe], float]:
    """The probes, sent at this rate per second, and the rate of receipts beside them."""
    client = Client(settings)
    warm, own = (partial(probe, client, paths, name) for name in ("warm", "probe"))
    await run_arrivals(warm, per_second, scale.warm_seconds)
    rate = ReceiptRate(settings)
    probes = await run_arrivals(own, per_second, scale.probe_seconds)
    return probes, rate()


async def probe(client: Client, paths: Sequence[str], name: str, number: int, _due: float) -> Probe:
    """Post a receipt, and read each of the paths until the answer holds it."""
    clock = asyncio.get_running_loop().time
    now = (await client.get("/v1/clock")).document["world_time"]
    sent = clock()
    stored = await client.post(f"/v1/events/{RECEIPTS.name}", create_sale(f"{name}-{number}", now))
    acknowledged = clock()
    if stored.status != HTTPStatus.CREATED:
        raise ValueError(f"A receipt should be taken, but: {stored.status} {stored.body[:500]!r}")
    record = stored.document["min_offset"]

    async def await_row(path: str) -> Sample:
        answer = await client.get(f"{path}min_offset={record}")
        return Sample(clock() - acknowledged, answer.status == HTTPStatus.OK)

    return Probe(acknowledged - sent, await asyncio.gather(*map(await_row, paths)))


def create_sale(event_id: str, world_time: str) -> dict[str, object]:
    return {
        "event_id": event_id,
        "event_time": world_time,
        "store_id": STORE,
        "register_id": f"{STORE}-R9",
        "cashier_id": f"{STORE}-K99",
        "lines": [{"sku": SKU, "units": 1, "unit_price_cents": 100}],
    }
