"""The time from a published receipt to an answer of the API that holds it."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from urllib.request import Request, urlopen

from contracts import ALERTS, RECEIPTS, STORE_SALES, VISITS, Contract
from infra.http import NO_ANSWER, fetch_json
from infra.settings import Settings
from ops.bench.shops import let_time_pass

ANSWER_SECONDS_MAX = 15.0
PROBES_PER_SECOND = 2.0
"""Each waits for every pipeline, some for five seconds. The API limits how many wait at once."""
WAITING_MAX = 128
STORE, SKU = "S001", "SKU-00001"


def find_row_path(view: Contract) -> str:
    """The path of any row of the view."""
    return f"/v1/views/{view.name}/rows?limit=1&"


PATHS: Mapping[str, str] = MappingProxyType(
    {
        "inventory": f"/v1/stock/{STORE}/{SKU}?",
        "fraud": find_row_path(ALERTS),
        "analytics": find_row_path(STORE_SALES),
        "visits": find_row_path(VISITS),
    }
)
"""A path of each pipeline that reads receipts."""


@dataclass(frozen=True)
class Sample:
    seconds: float
    good: bool
    """Whether the answer was a good one."""


def measure_freshness(
    settings: Settings, pipelines: Iterable[str], seconds: float
) -> dict[str, Sequence[Sample]]:
    """Of receipts that are posted for so long, by pipeline: the time from the acknowledgement until
    an answer holds the receipt.
    """
    waiting: dict[str, list[Future[Sample]]] = {name: [] for name in pipelines}
    began = time.monotonic()
    with ThreadPoolExecutor(WAITING_MAX) as pool:
        for number in range(round(PROBES_PER_SECOND * seconds)):
            due = began + number / PROBES_PER_SECOND
            let_time_pass(max(0.0, due - time.monotonic()))
            record = post_sale(settings, f"probe-{number}")
            acknowledged = time.monotonic()
            for name, answers in waiting.items():
                url = f"{settings.api_url}{PATHS[name]}min_offset={record}"
                answers.append(pool.submit(await_row, url, acknowledged))
    return {name: [each.result() for each in answers] for name, answers in waiting.items()}


def post_sale(settings: Settings, event_id: str) -> str:
    """Post a receipt of the present; its offset."""
    clock = fetch_json(f"{settings.api_url}/v1/clock", ANSWER_SECONDS_MAX)
    sale = {
        "event_id": event_id,
        "event_time": clock["world_time"],
        "store_id": STORE,
        "register_id": f"{STORE}-R9",
        "cashier_id": f"{STORE}-K99",
        "lines": [{"sku": SKU, "units": 1, "unit_price_cents": 100}],
    }
    request = Request(
        f"{settings.api_url}/v1/events/{RECEIPTS.name}",
        json.dumps(sale).encode(),
        {"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=ANSWER_SECONDS_MAX) as answer:
        return str(json.load(answer)["min_offset"])


def await_row(url: str, acknowledged: float) -> Sample:
    """Read until the answer holds the receipt."""
    try:
        fetch_json(url, ANSWER_SECONDS_MAX)
    except NO_ANSWER:
        return Sample(time.monotonic() - acknowledged, good=False)
    return Sample(time.monotonic() - acknowledged, good=True)


def compute_percentile_ms(samples: Sequence[Sample], percent: float) -> float:
    """The smallest sample that this share of them does not exceed, in milliseconds."""
    ordered = sorted(sample.seconds for sample in samples)
    return 1000 * ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]
