"""The guide for writers, followed as it is written, in a running shop."""

from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.e2e.shop import Shop
from tests.guide import Reader, blocks
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

ANSWER_SECONDS_MAX = 60


def test_whoever_follows_the_guide_finds_exactly_what_they_wrote(
    shop: Shop, tmp_path: Path
) -> None:
    reader = Reader(shop.where, tmp_path)
    [one_event, a_file] = blocks()["sh"]
    [a_client] = blocks()["python"]
    assert shelf(shop) is None
    for _ in range(2):  # sent again, within the horizon: the same event
        reader.shell(one_event)
    counted(shop, on_hand=10, sold=0)
    assert "3 rows · 3 published" in reader.shell(a_file)
    counted(shop, on_hand=4, sold=6)
    assert reader.python(a_client) == "2 left of MINE in S001\n"
    counted(shop, on_hand=2, sold=8)
    assert reader.python(a_client) == "0 left of MINE in S001\n"
    assert all(found["exact"] for found in shop.verify().values())


def shelf(shop: Shop) -> Any:
    try:
        return shop.get("/v1/stock/S001/MINE")
    except HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        return None


def counted(shop: Shop, on_hand: int, sold: int) -> None:
    """Wait until the shelf is as it must be."""

    def there() -> bool:
        found = shelf(shop) or {"units_sold": 0, "units_on_hand": 0}
        return (found["units_on_hand"], found["units_sold"]) == (on_hand, sold)

    wait_until(there, f"{on_hand} of MINE on hand, {sold} sold", ANSWER_SECONDS_MAX)
