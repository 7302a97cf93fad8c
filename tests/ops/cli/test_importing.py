"""retail import, on a real broker: what is published, what is refused, killed and done again."""

import json
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from contracts import ADJUSTMENTS, HEARTBEATS, PRICE_CHANGES, RECEIPTS, REFUNDS, decode
from infra.identities import FOLDER, Identities
from infra.kafka import create_admin, read_end_offsets, read_newest_ms
from infra.processes import start_module
from infra.settings import Settings, locate_root
from infra.wait import wait_until
from tests.brokers import empty_broker, read_all
from tests.command import run_command
from tests.generators.importing.sales import UCI, uci_row, write_csv, write_m5, write_uci
from tests.secrets import find_files

pytestmark = pytest.mark.e2e

MAPPINGS = locate_root() / "generators" / "importing" / "mappings"
KILLED_ROWS = 10_000
"""So many that a busy machine, too, kills the import before all of them are published."""

SALES = (RECEIPTS, REFUNDS, ADJUSTMENTS, PRICE_CHANGES)


@pytest.fixture
def shop(shared_broker: Settings, tmp_path: Path) -> Settings:
    """An empty log of an own world, which begins before every file of these tests."""
    own = {"world": "2010-12-01"}
    return empty_broker(shared_broker, tmp_path / "data").model_copy(update=own)


def run(
    shop: Settings, *options: object, shape: str = "uci-online-retail"
) -> "subprocess.CompletedProcess[str]":
    return run_command(shop, "import", "--map", MAPPINGS / f"{shape}.yaml", *options)


def count_ids(shop: Settings) -> Counter[str]:
    """How often the log holds each event."""
    return Counter(
        decode(value).value["event_id"] for topic in SALES for value in read_all(shop, topic.name)
    )


def test_what_a_dry_run_says_is_what_is_published_and_refused(
    shop: Settings, tmp_path: Path
) -> None:
    file = write_uci(tmp_path / "sales.csv")
    dry, before = run(shop, file, "--dry-run"), count_ids(shop)
    done = run(shop, file)
    assert (dry.returncode, done.returncode) == (1, 1), done.stderr
    assert not before
    assert "9 rows · 11 events would be published" in dry.stdout
    assert "9 rows · 11 events published" in done.stdout
    for reason in ("units: expected a whole number   sales.csv:6", "price_cents is at least 0"):
        assert reason in dry.stdout
        assert reason in done.stdout
    assert len(count_ids(shop)) == 8  # without the store and two products
    report = shop.data_dir / "reports" / "import-uci-online-retail.jsonl"
    refused = [json.loads(line) for line in report.read_text().splitlines()]
    assert [refusal["row"] for refusal in refused] == [8, 6, 9]


def test_the_same_files_again_change_nothing(shop: Settings, tmp_path: Path) -> None:
    file = write_m5(tmp_path)
    assert run(shop, file, shape="m5").returncode == 0
    before, clock = count_ids(shop), read_newest_ms(create_admin(shop), [HEARTBEATS.name])
    again = run(shop, file, shape="m5")
    assert "0 events published · 26 in the log already" in again.stdout
    assert (count_ids(shop), read_newest_ms(create_admin(shop), [HEARTBEATS.name])) == (
        before,
        clock,
    )


def test_an_import_that_was_killed_goes_on_and_every_event_is_there_once(
    shop: Settings, tmp_path: Path
) -> None:
    rows = [
        uci_row(str(536_365 + number), 1, f"12/{1 + number // 400}/2010 {8 + number % 10}:00")
        for number in range(KILLED_ROWS)
    ]
    file = write_csv(tmp_path / "sales.csv", UCI, rows)
    words = ["import", "--map", str(MAPPINGS / "uci-online-retail.yaml"), str(file)]
    client = create_admin(shop)  # of its own for each look it would look twice a second
    first = start_module(shop, tmp_path / "first.log", "ops.cli.main", *words)

    def has_begun() -> bool:
        return sum(read_end_offsets(client, [RECEIPTS.name]).values()) > 0

    with first:
        wait_until(has_begun, "some receipts are in the log", 60)
        first.kill()
    assert 0 < len(count_ids(shop)) < KILLED_ROWS
    done = run(shop, file)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = count_ids(shop)
    assert set(counts.values()) == {1}
    assert len(counts) == KILLED_ROWS + 2  # with a price and the opening stock


def test_customers_get_pseudonyms_and_no_row_of_a_killed_import_stays(
    shop: Settings, tmp_path: Path
) -> None:
    hidden = shop.model_copy(update={"pseudonyms": True})
    left = shop.data_dir / "import" / "lines-killed"
    left.mkdir(parents=True)
    (left / "rows.duckdb").write_text("17850")
    file = write_uci(tmp_path / "sales.csv")
    assert "11 events published" in run(hidden, file).stdout
    assert "0 events published · 11 in the log already" in run(hidden, file).stdout
    events = [decode(value).value for value in read_all(shop, RECEIPTS.name)]
    with closing(Identities(shop.data_dir)) as lookup:
        person = lookup.find("17850")
    assert person is not None
    assert {event["customer_id"] for event in events} == {person.pseudonym}
    named = {
        path.relative_to(shop.data_dir).parts[0] for path in find_files("17850", shop.data_dir)
    }
    assert named == {FOLDER}


def test_the_next_files_go_on_where_the_world_stands(shop: Settings, tmp_path: Path) -> None:
    first = write_csv(tmp_path / "a.csv", UCI, [uci_row("1", 1, "12/1/2010 8:00")])
    assert run(shop, first, "--until", "2010-12-02").returncode == 0
    rows = [uci_row("2", 1, "12/2/2010 8:00"), uci_row("3", 1, "12/1/2010 9:00")]
    done = run(shop, write_csv(tmp_path / "b.csv", UCI, rows))
    assert "whose readers have forgotten" in done.stdout
    assert "the world's time is 2010-12-02 08:01" in done.stdout
    assert count_ids(shop)["ONLINE-2-R"] == 1
    assert not count_ids(shop)["ONLINE-3-R"]


def test_what_cannot_be_imported_is_said_in_a_sentence(shop: Settings, tmp_path: Path) -> None:
    file = write_uci(tmp_path / "sales.csv")
    simulated = shop.model_copy(update={"world": "simulated"})
    assert "WORLD=2010-12-01" in run(simulated, file).stderr
    assert "there is none" in run(shop, tmp_path / "none.csv").stderr
    assert "found never" in run(shop, file, "--until", "never").stderr
    empty = write_csv(tmp_path / "empty.csv", UCI, [])
    assert "at least one row" in run(shop, empty).stderr
    assert "sku: StockCode" in run_command(shop, "import", "--draft", file).stdout
    without = run_command(shop, "import", file)
    assert "--map should name a mapping" in without.stderr
