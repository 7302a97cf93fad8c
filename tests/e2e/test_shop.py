"""From the till to the API, with the real parts."""

import re
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Contract
from contracts.shape import Row
from infra.http import NO_ANSWER
from infra.kafka import is_answering
from infra.security.files import locate_authority
from infra.security.passwords import locate_password, read_password
from infra.security.tokens import Role, list_tokens, locate_token
from infra.settings import OPERATOR, Settings
from infra.wait import wait_until
from ops.bench.shops import CommandFailed
from ops.cli.experiments import FENCED, find_experiments, parse_exchanges, run
from ops.verify.served import fetch_views
from pipelines.common.pipeline import load
from services.api.store.database import locate_database, locate_folder
from services.api.store.tables import Table
from tests.answers import is_alike
from tests.e2e.loop import await_soon, count_order_ids
from tests.e2e.shop import Shop
from tests.e2e.writers import follow_guide_for_writers
from tests.secrets import check_in_its_file_alone
from tests.seeds import create_random

FORGED = "FORGED"
STRANGER_SECONDS_MAX = 2.0
NIGHT_SECONDS_MAX = 200  # more than the fastest of these worlds needs
RUNNING = str(Settings.model_fields["pipelines"].default).split(",")

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(600)]


def test_every_part_that_was_asked_for_is_ready(shop: Shop) -> None:
    states = shop.states()
    assert set(states.values()) == {"ready"}
    assert ("lake" in states) == shop.settings.lake


def test_stock_changes_while_one_looks(shop: Shop) -> None:
    lately = shop.get("/v1/stock?sort=-last_event_time&limit=20")["items"]
    before = {f"/v1/stock/{shelf['store_id']}/{shelf['sku']}": shelf["version"] for shelf in lately}

    def changed() -> list[str]:
        return [shelf for shelf, version in before.items() if shop.get(shelf)["version"] > version]

    wait_until(lambda: bool(changed()), "a movement on a shelf reaches the API", NIGHT_SECONDS_MAX)
    after = shop.get(changed()[0])
    came = after["units_received"] + after["units_adjusted"] + after["units_refunded"]
    assert after["units_on_hand"] == came - after["units_sold"]


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_a_secure_shop_answers_nobody_who_does_not_say_who_they_are(shop: Shop) -> None:
    stranger = shop.settings.model_copy(update={"secure": False})
    url = f"{shop.settings.api_url}/v1/stock"
    trust = ssl.create_default_context(cafile=locate_authority(shop.settings))
    with pytest.raises(HTTPError, match="Unauthorized"):
        urlopen(url, context=trust)
    with pytest.raises(NO_ANSWER):
        urlopen(url.replace("https:", "http:"))
    assert not is_answering(stranger, STRANGER_SECONDS_MAX)


def test_whoever_follows_the_guide_for_writers_finds_exactly_what_they_wrote(
    shop: Shop, tmp_path: Path
) -> None:
    follow_guide_for_writers(shop, tmp_path)
    assert all(verdict["exact"] for verdict in shop.verify().values())


def test_every_view_is_what_the_log_and_the_ledger_say(shop: Shop) -> None:
    """After tests for which the world need not be old: it waits for a record beyond the horizon."""
    assert all(verdict["exact"] for verdict in shop.verify_grown().values())


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_every_experiment_of_the_guide_answers_as_it_is_written(shop: Shop) -> None:
    for experiment in find_experiments():
        for block in FENCED.findall(experiment.file.read_text()):
            for command, written in parse_exchanges(block):
                answered = run(shop.settings, command)
                print(f"{experiment.name}: {command}\n{answered}")
                assert is_alike(written, replace_rare_lines(answered, written))


def replace_rare_lines(answered: str, written: str) -> str:
    """The answer with the page's line in the place of each record that cannot be decoded, and of
    each row of windows of which none has a receipt.

    This shop damages twenty times as many records as the one that the pages were written with, and
    sells less in the same time.
    """
    as_written = dict(enumerate(written.splitlines(keepends=True)))
    return "".join(
        as_written.get(number, line)
        if '{"undecodable"' in line or set(line.strip()) == {"."}
        else line
        for number, line in enumerate(answered.splitlines(keepends=True))
    )


@pytest.mark.parametrize("shop", ["embedded"], indirect=True, scope="module")
def test_unchanged_code_replayed_says_exactly_what_is_served(shop: Shop) -> None:
    name = create_random("a pipeline").choice(shop.settings.pipeline_names)
    said = shop.run_retail("replay", "verify", name)
    assert re.search(r"none: generation \d+ = its code, replayed", said)
    assert re.search(rf"{name} at marker [\d,]+ · [1-9][\d,]* records · [1-9][\d,]* rows", said)


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
    assert [verdict.split(maxsplit=1)[0] for verdict in verdicts] == RUNNING
    for name, verdict in zip(RUNNING, verdicts, strict=True):
        assert "NOT EXACT" in verdict
        assert verdict.count(FORGED) == len(forged[name])


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
def test_a_secret_of_a_running_secure_shop_is_in_its_file_alone(shop: Shop) -> None:
    """After each of them was shown, one to act."""
    settings = shop.settings
    kept = {token.secret: locate_token(settings, token.name) for token in list_tokens(settings)}
    kept[read_password(settings, OPERATOR)] = locate_password(settings, OPERATOR)
    assert len(kept) == len(Role) + 1
    url = f"{settings.api_url}/v1/pipelines/{RUNNING[0]}/rollback"
    trust = ssl.create_default_context(cafile=locate_authority(settings))
    for token in list_tokens(settings):
        asked = Request(url, method="POST", headers={"Authorization": f"Bearer {token.secret}"})
        found = (
            "Conflict" if token.role is Role.OPERATOR else "Forbidden"
        )  # by the command, which ran
        with pytest.raises(HTTPError, match=found):
            urlopen(asked, context=trust)
    check_in_its_file_alone(settings, kept)


def test_after_down_the_world_goes_on_where_it_stood(shop: Shop) -> None:
    before = {name: fetch_views(shop.settings, name) for name in shop.settings.pipeline_names}
    shop.stop()
    assert set(shop.states().values()) == {"stopped"}
    with pytest.raises(OSError, match="refused"):
        shop.get("/healthz")
    shop.start()
    shop.await_batches_after({name: served.batch for name, served in before.items()})
    after = shop.verify()
    for name, verdict in after.items():
        assert verdict["exact"]
        assert verdict["marker"] > before[name].batch
        applied = sum(book.applied for book in before[name].books.values())
        assert verdict["books"]["applied"] > applied
