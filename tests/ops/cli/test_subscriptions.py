"""retail subscriptions: asks the API, and says what it says."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from contracts import STOCK_LEVELS
from infra.settings import Settings
from infra.token import locate_token
from ops.cli import subscriptions
from tests.ops.cli.commands import run_command
from tests.services.memory import MemoryLog
from tests.services.serving import TOKEN, Answers, create_sources, serving
from tests.services.writing import Writing, promote

ADDRESS = "https://hooks.example.com/stock"


@dataclass
class Shop:
    api: Answers
    settings: Settings


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    log = MemoryLog()
    inventory = Writing(log)
    inventory.row(1, "A", 4)
    inventory.mark()
    promote(log, inventory)
    with serving(create_sources(log, tmp_path / "api")) as api:
        api.ready()
        settings = Settings(data_dir=tmp_path, api_address=urlsplit(api.address).netloc)
        locate_token(settings).write_text(TOKEN)
        monkeypatch.setattr(subscriptions, "read_settings", lambda: settings)
        yield Shop(api, settings)


run = partial(run_command, "subscriptions")


def test_one_is_added_listed_resumed_and_removed(shop: Shop) -> None:
    added = run("add", STOCK_LEVELS.name, ADDRESS, "--filter", "units_on_hand<=5")
    [made] = shop.api.json("/v1/subscriptions")["subscriptions"]
    identity = made["subscription_id"]
    assert identity in added
    assert "whsec_" in added
    listed = run("list")
    assert all(one in listed for one in (identity, "active", "units_on_hand<=5"))
    assert "whsec_" not in listed
    assert f'"{identity}"' in run("list", "--json")
    assert "is tried again" in run("resume", identity)
    run("remove", identity)
    assert shop.api.json("/v1/subscriptions") == {"subscriptions": []}


def test_what_the_api_refuses_is_said_in_its_words(shop: Shop) -> None:
    with pytest.raises(subscriptions.Refused, match="SUBSCRIPTION_HOSTS"):
        run("add", STOCK_LEVELS.name, "https://elsewhere.example/")
    run("add", STOCK_LEVELS.name, ADDRESS)
    [made] = shop.api.json("/v1/subscriptions")["subscriptions"]
    with pytest.raises(subscriptions.Refused, match="a notification that was tried in vain"):
        run("resume", made["subscription_id"], "--skip")
    locate_token(shop.settings).write_text("another")
    with pytest.raises(subscriptions.Refused, match="token of this shop"):
        run("add", STOCK_LEVELS.name, ADDRESS)


def test_who_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = Settings(data_dir=tmp_path, api_address="127.0.0.1:1")
    monkeypatch.setattr(subscriptions, "read_settings", lambda: nobody)
    for words in (["list"], ["remove", "9f31c0d2a4b5e6f7"]):
        with pytest.raises(subscriptions.Refused, match="make status"):
            run(*words)
