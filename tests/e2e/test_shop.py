"""From the till to the API, with the real parts."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from bench.shops import CommandFailed
from cli import fleet
from cli.experiments import FENCED, find_experiments, parse_exchanges, run
from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Contract
from contracts.shape import Row
from infra.settings import Settings
from infra.token import locate_token, read_token
from infra.wait import wait_until
from pipelines.common.pipeline import load
from services.api.store.location import locate_database, locate_folder
from services.api.store.tables import Table
from tests.answers import is_alike
from tests.e2e.loop import await_soon, count_order_ids
from tests.e2e.shop import Shop
from tests.guide import README, Reader, read_blocks
from tests.secrets import find_files, find_processes, list_with_children
from tests.seeds import create_random

FORGED = "FORGED"
ANSWER_SECONDS_MAX = 60
NIGHT_SECONDS_MAX = 200  # more than the fastest of these worlds needs
RUNNING = str(Settings.model_fields["pipelines"].default).split(",")

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


def test_every_part_that_was_asked_for_is_ready(shop: Shop) -> None:
    states = shop.states()
    assert set(states.values()) == {"ready"}
    assert ("lake" in states) == shop.settings.lake


def test_stock_changes_while_one_looks(shop: Shop) -> None:
    lately = shop.get("/v1/stock?sort=-last_event_time&limit=20")["items"]
    before = {f"/v1/stock/{one['store_id']}/{one['sku']}": one["version"] for one in lately}

    def changed() -> list[str]:
        return [shelf for shelf, version in before.items() if shop.get(shelf)["version"] > version]

    wait_until(lambda: bool(changed()), "a movement on a shelf reaches the API", NIGHT_SECONDS_MAX)
    after = shop.get(changed()[0])
    came = after["units_received"] + after["units_adjusted"] + after["units_refunded"]
    assert after["units_on_hand"] == came - after["units_sold"]


def test_every_view_is_what_the_log_and_the_ledger_say(shop: Shop) -> None:
    assert all(one["exact"] for one in shop.verify_grown().values())


def test_whoever_follows_the_guide_for_writers_finds_exactly_what_they_wrote(
    shop: Shop, tmp_path: Path
) -> None:
    reader = Reader(shop.settings, tmp_path)
    [first_example] = read_blocks(README)["sh"]
    [one_event, a_file] = read_blocks()["sh"]
    [a_client] = read_blocks()["python"]
    assert read_shelf(shop) is None
    wait_until(  # the example asks once, and gets a 503 while the pipeline is behind
        lambda: '"units_on_hand":10,' in reader.shell(first_example),
        "the README's example reads what it has written",
        ANSWER_SECONDS_MAX,
    )
    for _ in range(2):  # sent again, within the horizon: the same event
        reader.shell(one_event)
    await_counted(shop, on_hand=10, sold=0)
    assert "3 rows · 3 published" in reader.shell(a_file)
    await_counted(shop, on_hand=4, sold=6)
    assert reader.python(a_client) == "2 left of MINE in S001\n"
    await_counted(shop, on_hand=2, sold=8)
    assert reader.python(a_client) == "0 left of MINE in S001\n"
    assert all(one["exact"] for one in shop.verify().values())


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_every_experiment_of_the_guide_answers_as_it_is_written(shop: Shop) -> None:
    for experiment in find_experiments():
        for block in FENCED.findall(experiment.file.read_text()):
            for command, written in parse_exchanges(block):
                answered = run(shop.settings, command)
                print(f"{experiment.name}: {command}\n{answered}")
                assert is_alike(written, replace_undecodable(answered, written))


def replace_undecodable(answered: str, written: str) -> str:
    """The answer with the page's line in the place of each record that cannot be decoded.

    This shop damages twenty times as many records as the one that the pages were written with.
    """
    as_written = dict(enumerate(written.splitlines(keepends=True)))
    return "".join(
        as_written.get(number, line) if '{"undecodable"' in line else line
        for number, line in enumerate(answered.splitlines(keepends=True))
    )


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_unchanged_code_replayed_says_exactly_what_is_served(shop: Shop) -> None:
    name = create_random("a pipeline").choice(shop.settings.pipeline_names)
    line = shop.run_retail("replay", "verify", name, "--json").splitlines()[-1]
    [compared] = json.loads(line)["replays"]
    assert compared["pipeline"] == name
    assert compared["empty"]
    assert compared["records"] > 0
    assert all(view["before"] > 0 for view in compared["views"])


@pytest.mark.docker
@pytest.mark.parametrize("shop", ["containers"], indirect=True, scope="module")
def test_what_is_proposed_is_ordered_and_confirmed(shop: Shop) -> None:
    await_soon(lambda: count_order_ids(shop, CONFIRMATIONS), "a supplier confirms an order")
    assert (
        count_order_ids(shop, CONFIRMATIONS).keys() <= count_order_ids(shop, PURCHASE_ORDERS).keys()
    )


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_one_wrong_row_in_each_served_view_is_found_and_named(shop: Shop) -> None:
    forged = {name: [Table(view) for view in load(name).writes] for name in RUNNING}
    try:
        for name, tables in forged.items():
            with views(shop, name) as database:
                for table in tables:
                    database.execute(table.upsert, table.to_stored(forge_row(table.contract)))
        with pytest.raises(CommandFailed) as failure:
            shop.run_retail("verify")
    finally:
        for name, tables in forged.items():
            with views(shop, name) as database:
                for table in tables:
                    where = f"{find_forged_field(table.contract)} = ?"
                    database.execute(f"delete from {table.name} where {where}", [FORGED])
    verdicts = re.split(r"^  (?=\w+ g1 at marker)", str(failure.value), flags=re.MULTILINE)[1:]
    assert [one.split(maxsplit=1)[0] for one in verdicts] == RUNNING
    for name, one in zip(RUNNING, verdicts, strict=True):
        assert "NOT EXACT" in one
        assert one.count(FORGED) == len(forged[name])


def forge_row(view: Contract) -> Row:
    return {
        **dict.fromkeys(field.name for field in view.fields),
        **view.examples[0],
        find_forged_field(view): FORGED,
    }


def find_forged_field(view: Contract) -> str:
    """The field of the key by which a forged row is known."""
    return next(name for name in reversed(view.key) if name not in view.times)


@contextmanager
def views(shop: Shop, pipeline: str) -> Iterator[sqlite3.Connection]:
    """The API's database, opened beside the API for one transaction."""
    file = locate_database(locate_folder(shop.settings), pipeline, 1)
    with closing(sqlite3.connect(file, timeout=30)) as database, database:
        yield database


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_the_token_of_a_running_shop_is_in_its_file_alone(shop: Shop) -> None:
    token = read_token(shop.settings)
    url = f"{shop.settings.api_url}/v1/pipelines/{RUNNING[0]}/rollback"
    with pytest.raises(HTTPError, match="Conflict"):  # by the command, which ran
        urlopen(Request(url, method="POST", headers={"Authorization": f"Bearer {token}"}))
    running = [each.pid for each in fleet.list_components(shop.settings) if each.pid]
    processes = list_with_children(running)
    assert len(processes) >= len(running) > 3
    assert list(find_processes(token, processes)) == []
    assert find_files(token, shop.settings.data_dir, [locate_token(shop.settings)]) == []


def test_after_down_the_world_goes_on_where_it_stood(shop: Shop) -> None:
    before = shop.verify()
    shop.stop()
    assert set(shop.states().values()) == {"stopped"}
    with pytest.raises(OSError, match="refused"):
        shop.get("/healthz")
    shop.start()
    after = shop.verify()
    for name, verdict in after.items():
        assert verdict["exact"]
        assert verdict["marker"] > before[name]["marker"]
        assert verdict["books"]["applied"] > before[name]["books"]["applied"]


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
