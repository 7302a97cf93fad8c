"""A shop without the simulator: a year of each public shape, killed, imported again; the guide."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from confluent_kafka.admin import AdminClient

from contracts import RECEIPTS
from infra.kafka import create_admin, read_end_offsets
from infra.processes import build_environment
from infra.settings import Settings, locate_root
from infra.token import locate_token, read_token
from infra.wait import wait_until
from ops.bench.shops import read_lags
from tests.e2e.shop import Shop
from tests.e2e.writers import follow_guide_for_writers
from tests.generators.importing.sales import LAMP, MUG, UCI, uci_row, write_csv, write_m5
from tests.guide import Reader, read_blocks
from tests.ports import free_port_base
from tests.secrets import check_in_its_file_alone

MAPPINGS = locate_root() / "generators" / "importing" / "mappings"
DAYS = 365
RECEIPTS_PER_DAY = 6
RECEIPTS_A_YEAR = DAYS * RECEIPTS_PER_DAY
STORES = ("CA_1", "CA_2", "TX_1", "TX_2", "WI_1", "WI_2")
"""Each has a receipt a day."""
READ_SECONDS_MAX = 200

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose world begins in 2010."""
    started = Shop(
        Settings(
            data_dir=tmp_path_factory.mktemp("own") / "data",
            port_base=free_port_base(),
            world="2010-12-01",
        )
    )
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year of receipts of two lines; each month's last day brings a refund."""
    rows: list[Any] = []
    for day in range(DAYS):
        when = f"{1 + day % 12}/{1 + day // 12 % 28}/2011"
        for number in range(RECEIPTS_PER_DAY):
            invoice, time = str(100_000 + 10 * day + number), f"{when} {9 + number}:{day % 60:02}"
            rows += [uci_row(invoice, 2, time), uci_row(invoice, 1, time, "9.99", LAMP)]
        if day % 30 == 29:
            rows.append(uci_row(f"C{200_000 + day}", -1, f"{when} 17:00"))
    return write_csv(tmp_path_factory.mktemp("files") / "year.csv", UCI, rows)


def import_year(shop: Shop, mapping: str, year: Path) -> None:
    """Import a year's receipts, killed in the middle, again, and once more.

    Then all is exact, and nothing was applied twice or rejected.
    """
    command = ("import", "--map", str(MAPPINGS / f"{mapping}.yaml"), str(year))
    client = create_admin(shop.settings)  # of its own for each look it would look twice a second
    before = count_receipts(client)
    with subprocess.Popen(
        [sys.executable, "-m", "ops.cli.main", *command],
        env=build_environment(shop.settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as first:
        wait_until(lambda: count_receipts(client) > before + 100, "some are in the log", 120)
        first.kill()
    assert count_receipts(client) < before + RECEIPTS_A_YEAR
    shop.run_retail(*command)
    assert "0 events published" in shop.run_retail(*command)
    assert count_receipts(client) == before + RECEIPTS_A_YEAR
    verdicts = verify_all_read(shop)
    assert verdicts["inventory"]["books"]["duplicate"] == 0
    assert verdicts["inventory"]["quarantine"]["rejected"] == 0


def count_receipts(client: AdminClient) -> int:
    return sum(read_end_offsets(client, [RECEIPTS.name]).values())


def verify_all_read(shop: Shop) -> dict[str, Any]:
    """The document of `retail verify` once everything has been read."""
    wait_until(lambda: max(read_lags(shop)) == 0, "the views cover the whole log", READ_SECONDS_MAX)
    return shop.verify()


def test_status_says_that_it_is_an_own_world(shop: Shop) -> None:
    assert "world: an own world at 2010-12-01 00:00" in shop.run_retail("status")
    assert "simulator" not in shop.states()
    assert shop.get("/v1/clock")["world_time"] == "2010-12-01T00:00:00.000Z"


def test_a_year_is_exact_after_a_kill_in_the_middle_and_when_it_is_imported_twice(
    shop: Shop, year: Path
) -> None:
    import_year(shop, "uci-online-retail", year)
    sold = shop.get(f"/v1/stock/ONLINE/{MUG[0]}")
    assert sold["units_sold"] == 2 * RECEIPTS_A_YEAR
    assert sold["units_refunded"] == DAYS // 30
    assert sold["units_on_hand"] >= 0


def test_a_later_year_with_a_column_per_day_is_exact_by_the_same_two_commands(
    shop: Shop, tmp_path: Path
) -> None:
    import_year(shop, "m5", write_m5(tmp_path, DAYS, date(2013, 1, 1), STORES))
    for store in STORES:
        shelves = [shop.get(f"/v1/stock/{store}/FOODS_1_00{number}") for number in (1, 2)]
        assert [shelf["units_sold"] for shelf in shelves] == [
            sum(day % 3 for day in range(DAYS)),
            DAYS,
        ]
        assert all(shelf["units_on_hand"] >= 0 for shelf in shelves)


def test_the_token_of_a_running_shop_is_in_its_file_alone(shop: Shop) -> None:
    token = read_token(shop.settings)
    url = f"{shop.settings.api_url}/v1/pipelines/inventory/rollback"
    with pytest.raises(HTTPError, match="Conflict"):  # by the command, which ran
        urlopen(Request(url, method="POST", headers={"Authorization": f"Bearer {token}"}))
    check_in_its_file_alone(shop.settings, {token: locate_token(shop.settings)})


def test_the_guide_works_as_it_is_written(shop: Shop, tmp_path: Path) -> None:
    reader = Reader(shop.settings, tmp_path)
    make, draft, mend, dry, publish, look = read_blocks(locate_root() / "docs" / "own-shop.md")[
        "sh"
    ]
    for block in (make, draft, mend):
        reader.shell(block)
    for block, verb in ((dry, "would be published"), (publish, "published")):
        printed = reader.shell(block)
        assert f"14 events {verb}" in printed
        assert "1 refused" in printed
        assert "units: expected a whole number   sales.csv:6" in printed
    verify_all_read(shop)
    assert '"store_id":"LEEDS","sku":"A-2"' in reader.shell(look)
    shelf = shop.get("/v1/stock/LEEDS/A-2")
    counted = {name: shelf[f"units_{name}"] for name in ("on_hand", "sold", "refunded", "adjusted")}
    assert counted == {"on_hand": 1, "sold": 6, "refunded": 1, "adjusted": 6}
    assert shop.get("/v1/clock")["world_time"] == "2024-03-03T00:00:00.000Z"


def test_whoever_follows_the_guide_for_writers_finds_exactly_what_they_wrote(
    shop: Shop, tmp_path: Path
) -> None:
    follow_guide_for_writers(shop, tmp_path)
    verify_all_read(shop)
