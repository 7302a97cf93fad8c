"""From the till to the API, with the real parts, as a person would go."""

import pytest

from tests.e2e.shop import Shop
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]


def test_stock_changes_while_one_looks(shop: Shop) -> None:
    best_sold = shop.get("/v1/stock?sort=last_event_time&limit=1")["items"][0]
    shelf = f"/v1/stock/{best_sold['store_id']}/{best_sold['sku']}"
    before = shop.get(shelf)

    def changed() -> bool:
        return bool(shop.get(shelf)["version"] > before["version"])

    wait_until(changed, "a movement on the shelf reaches the API", seconds_max=60)
    after = shop.get(shelf)
    came = after["units_received"] + after["units_adjusted"] + after["units_refunded"]
    assert after["units_on_hand"] == came - after["units_sold"]


def test_the_view_is_what_the_log_and_the_ledger_say(shop: Shop) -> None:
    def has_dirt() -> bool:
        kinds = shop.verify()["ledger"]
        return all(kinds[kind] > 0 for kind in ("duplicates", "late", "beyond_horizon"))

    wait_until(has_dirt, "late, repeated and hopelessly late records", seconds_max=180)
    found = shop.verify()
    assert found["exact"]
    assert found["rows"] > 1_000
    assert found["books"]["quarantined"] > 0


def test_after_down_the_world_goes_on_where_it_stood(shop: Shop) -> None:
    before = shop.verify()
    shop.retail("down")
    states = {component["state"] for component in shop.components().values()}
    assert states == {"stopped"}
    shop.retail("up")
    after = shop.verify()
    assert after["exact"]
    assert after["marker"] > before["marker"]
    assert after["books"]["applied"] > before["books"]["applied"]
