"""A whole shop, for as long as it is measured."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from contracts import RECEIPTS
from infra.kafka import admin, end_offsets
from infra.settings import Settings
from tests.e2e.shop import Shop
from tests.waiting import wait_until

CAUGHT_UP_SECONDS_MAX = 300.0
LAG_RECORDS_MAX = 1_000

MORNING = 1.15
"""The world begins on a Monday at eight: by so much less is sold there than on average."""


@contextmanager
def running(where: Settings) -> Iterator[Shop]:
    """The shop, up and caught up with its log."""
    where.data_dir.mkdir(parents=True, exist_ok=True)
    shop = Shop(where)
    try:
        shop.retail("up")
        wait_until(lambda: caught_up(shop), "the view is caught up", CAUGHT_UP_SECONDS_MAX)
        yield shop
    finally:
        shop.retail("down")


def caught_up(shop: Shop) -> bool:
    lag = inventory(shop).get("lag_records")
    return lag is not None and lag <= LAG_RECORDS_MAX


def inventory(shop: Shop) -> dict[str, Any]:
    """Where the pipeline stands, as the API tells."""
    found = shop.get("/v1/pipelines/inventory")
    return dict(found)


def selling(where: Settings, name: str, receipts_per_second: float) -> Settings:
    """Settings of a new shop of that name, in which about so many receipts come at first."""
    return where.model_copy(
        update={
            "data_dir": where.data_dir / name,
            "simulator_receipts_per_second": MORNING * receipts_per_second,
        }
    )


class ReceiptRate:
    """Receipts per second that really came since it was made."""

    def __init__(self, where: Settings) -> None:
        self._admin = admin(where)
        self._began, self._before = time.monotonic(), self._count()

    def __call__(self) -> float:
        return (self._count() - self._before) / (time.monotonic() - self._began)

    def _count(self) -> int:
        return sum(end_offsets(self._admin, [RECEIPTS.name]).values())
