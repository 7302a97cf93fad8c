"""How long it takes from a published receipt to an answer of the API that holds it."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from contracts import RECEIPTS
from infra.settings import Settings
from tests.bench.arrivals import Sample, arrivals, failed, milliseconds
from tests.bench.client import Client
from tests.bench.figures import Figure, at_most
from tests.bench.scale import Scale
from tests.bench.shops import ReceiptRate, running, selling, with_pipelines

RECEIPTS_PER_SECOND = 300.0
PROBES_PER_SECOND = 5.0
STORE, SKU = "S001", "SKU-00001"


@dataclass(frozen=True)
class Probe:
    acknowledged: Sample
    """From the answer that says that the log has the receipt."""
    sent: Sample
    """From before it was sent to the API."""


AIMS = {"alone": (250, 600), "with all": (300, 800)}
"""Of p50 and p99, in milliseconds."""


def measure(where: Settings, scale: Scale) -> Iterator[Figure]:
    for word, own in with_pipelines(where):
        yield from measured(word, selling(own, f"freshness-{word}", RECEIPTS_PER_SECOND), scale)


def measured(word: str, own: Settings, scale: Scale) -> Iterator[Figure]:
    median, slow = map(at_most, AIMS[word])
    with running(own):
        probes, rate = asyncio.run(probed(own, scale))
    visible = [probe.acknowledged for probe in probes]
    sent = [probe.sent for probe in probes]
    note = (
        f"{len(probes)} receipts posted beside {rate:,.0f} receipts/s, after {scale.warm_seconds:g}"
        " s: from the acknowledgement to the answer of a read with min_offset. From before the "
        f"post: p50 {milliseconds(sent, 50):,.0f} ms, p99 {milliseconds(sent, 99):,.0f} ms."
        + failed(visible)
    )
    name = f"visible, pipeline {word}"
    yield Figure(f"{name}, p50", milliseconds(visible, 50), "ms", median)
    yield Figure(f"{name}, p99", milliseconds(visible, 99), "ms", slow, note=note)


async def probed(where: Settings, scale: Scale) -> tuple[Sequence[Probe], float]:
    """The probes, and the rate of receipts beside them."""
    client = Client(where)
    await arrivals(partial(probe, client, "warm"), PROBES_PER_SECOND, scale.warm_seconds)
    rate = ReceiptRate(where)
    probes = await arrivals(partial(probe, client, "probe"), PROBES_PER_SECOND, scale.probe_seconds)
    return probes, rate()


async def probe(client: Client, name: str, number: int, _due: float) -> Probe:
    clock = asyncio.get_running_loop().time
    now = (await client.get("/v1/clock")).document["world_time"]
    sent = clock()
    stored = await client.post(f"/v1/events/{RECEIPTS.name}", sale(f"{name}-{number}", now))
    acknowledged = clock()
    if stored.status != HTTPStatus.CREATED:
        raise ValueError(f"A receipt should be taken, but: {stored.status} {stored.body[:500]!r}")
    record = stored.document["min_offset"]
    shelf = await client.get(f"/v1/stock/{STORE}/{SKU}?min_offset={record}")
    seen, good = clock(), shelf.status == HTTPStatus.OK
    return Probe(Sample(seen - acknowledged, good), Sample(seen - sent, good))


def sale(event_id: str, world_time: str) -> dict[str, object]:
    return {
        "event_id": event_id,
        "event_time": world_time,
        "store_id": STORE,
        "register_id": f"{STORE}-R9",
        "cashier_id": f"{STORE}-K99",
        "lines": [{"sku": SKU, "units": 1, "unit_price_cents": 100}],
    }
