"""From the till to the API, with the real parts, as a person would go."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from contracts import STOCK_LEVELS
from tests.e2e.shop import CommandFailed, Shop
from tests.oracle.ledger import DIRT
from tests.waiting import wait_until

VIEW = f'"{STOCK_LEVELS.name}"'

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]


def test_stock_changes_while_one_looks(shop: Shop) -> None:
    lately = shop.get("/v1/stock?sort=-last_event_time&limit=1")["items"][0]
    shelf = f"/v1/stock/{lately['store_id']}/{lately['sku']}"
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
        return all(kinds[kind] > 0 for kind in DIRT)

    wait_until(has_dirt, "records with every kind of dirt", seconds_max=180)
    found = shop.verify()
    assert found["exact"]
    assert found["rows"] > 1_000
    assert found["books"]["quarantined"] > 0


def test_one_wrong_row_in_the_served_view_is_found_and_named(shop: Shop) -> None:
    row = shop.get("/v1/stock?limit=1")["items"][0]
    with views(shop) as database:
        database.execute(
            f"create temp table forged as select * from {VIEW} where store_id = ? and sku = ?",
            (row["store_id"], row["sku"]),
        )
        database.execute("update forged set sku = 'FORGED'")
        database.execute(f"insert into {VIEW} select * from forged")
    try:
        with pytest.raises(CommandFailed) as told:
            shop.retail("verify", "inventory")
    finally:
        with views(shop) as database:
            database.execute(f"delete from {VIEW} where sku = 'FORGED'")
    assert "NOT EXACT" in str(told.value)
    assert "'sku': 'FORGED'" in str(told.value)


@contextmanager
def views(shop: Shop) -> Iterator[sqlite3.Connection]:
    """The API's database, behind its back, for one transaction."""
    file = shop.where.data_dir / "api" / "inventory.g1.sqlite"
    with closing(sqlite3.connect(file, timeout=30)) as database, database:
        yield database


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
