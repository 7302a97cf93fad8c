"""The guide for writers, followed in a shop that runs."""

from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from infra.wait import wait_until
from tests.e2e.shop import Shop
from tests.guide import README, Reader, read_blocks, read_client

ANSWER_SECONDS_MAX = 60


def follow_guide_for_writers(shop: Shop, folder: Path) -> None:
    """Twice ten units of MINE come and ten go, by each way to publish; the shelf says so."""
    reader = Reader(shop.settings, folder)
    [first_example] = read_blocks(README)["sh"]
    [one_event, a_file] = read_blocks()["sh"]
    a_client = read_client(shop.settings)
    assert read_shelf(shop) is None
    assert '"units_on_hand":10,' in reader.shell(first_example)
    set_now, sending = one_event.split("\n", 1)
    assert set_now.startswith("now=$(")
    assert '"mine-0"' in sending  # as in the README's, and an own world's clock may stand still
    another = f"now={shop.get('/v1/clock')['world_time']}\n{sending.replace('mine-0', 'mine-1')}"
    for _ in range(3):  # with the same id and time it is the same event
        reader.shell(another)
    await_counted(shop, on_hand=20, sold=0)
    assert reader.shell(a_file).count('"min_offset":') == 3
    await_counted(shop, on_hand=14, sold=6)
    assert reader.python(a_client) == "12 left of MINE in S001\n"
    await_counted(shop, on_hand=12, sold=8)
    assert reader.python(a_client) == "10 left of MINE in S001\n"


def read_shelf(shop: Shop) -> Any:
    try:
        return shop.get("/v1/stock/S001/MINE")
    except HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        return None


def await_counted(shop: Shop, on_hand: int, sold: int) -> None:
    """Wait until the shelf has these units."""

    def there() -> bool:
        shelf = read_shelf(shop) or {"units_sold": 0, "units_on_hand": 0}
        return (shelf["units_on_hand"], shelf["units_sold"]) == (on_hand, sold)

    wait_until(there, f"{on_hand} of MINE on hand, {sold} sold", ANSWER_SECONDS_MAX)
