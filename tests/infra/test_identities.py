import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts import CONTRACTS
from contracts.projection import list_leaves
from infra.identities import FIELDS, AsSent, Erased, Identities, Person, locate_lookup, open_edge
from infra.settings import Settings
from tests.secrets import find_files

KNOWN_AS, TOKEN = "XqJkZvWyPg 17850", "tok/Zw!yQxKv"
WALL_MS = 1_772_454_000_000
PERSONS = 3_000
"""So many that the lookup has pages which are divided and written anew."""


@pytest.fixture
def lookup(tmp_path: Path) -> Iterator[Identities]:
    with closing(Identities(tmp_path)) as opened:
        yield opened


def buy(
    lookup: Identities, customer: str | None = KNOWN_AS, card: str | None = TOKEN
) -> dict[str, Any]:
    passed = lookup.replace({"store_id": "S1", "customer_id": customer, "card_token": card})
    lookup.save()
    return dict(passed)


def erase(lookup: Identities) -> Erased:
    erased = lookup.erase(KNOWN_AS, WALL_MS)
    assert erased is not None
    return erased


def test_the_fields_that_are_replaced_are_those_by_which_contracts_name_a_customer() -> None:
    personal = {
        path[-1]
        for contract in CONTRACTS.values()
        for path, field in list_leaves(contract.fields)
        if field.personal and contract.kind == "topic" and contract.visibility == "public"
    }
    staff, raw = "cashier_id", "value"
    assert set(FIELDS) == personal - {staff, raw}


def test_a_person_has_the_same_pseudonym_whenever_and_wherever(tmp_path: Path) -> None:
    with closing(Identities(tmp_path)) as first:
        sold = buy(first)
    with closing(Identities(tmp_path)) as second:
        assert buy(second) == sold
        assert buy(second, card=None) == {**sold, "card_token": None}
        cash = {"store_id": "S1", "customer_id": None}
        assert second.replace(cash) is cash
        assert buy(second, customer="another")["card_token"] == sold["card_token"]
    assert sold["store_id"] == "S1"
    assert sold["customer_id"].startswith("customer-")
    assert sold["card_token"].startswith("card-")
    assert len(sold["customer_id"]) <= 64
    with closing(Identities(tmp_path)) as third:  # a customer and a card with one name are two
        same = buy(third, "same", "same")
    assert same["customer_id"].partition("-")[2] != same["card_token"].partition("-")[2]


def test_what_was_not_saved_was_never_replaced(tmp_path: Path) -> None:
    with closing(Identities(tmp_path)) as killed:
        killed.replace({"customer_id": KNOWN_AS})
    with closing(Identities(tmp_path)) as after:
        assert after.find(KNOWN_AS) is None


def test_several_that_write_at_once_agree_on_everybody(tmp_path: Path) -> None:
    def sell(_: int) -> list[dict[str, Any]]:
        with closing(Identities(tmp_path)) as own:
            return [buy(own, f"C{number}", f"tok{number % 5}") for number in range(20)]

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(sell, range(4))
    assert all(other == first for other in others)
    assert len({sold["customer_id"] for sold in first}) == 20


def test_who_is_erased_is_in_no_byte_and_everybody_else_stays(
    tmp_path: Path, lookup: Identities
) -> None:
    before = {
        number: lookup.replace({"customer_id": f"Who{number}!", "card_token": f"Tk{number}!"})
        for number in range(PERSONS)
    }
    lookup.save()
    sold = [buy(lookup), buy(lookup, card="tok/second")]
    assert find_files(KNOWN_AS, tmp_path) == [locate_lookup(tmp_path)]
    assert lookup.find(KNOWN_AS) == Person(sold[0]["customer_id"], (TOKEN, "tok/second"))

    assert erase(lookup) == Erased(sold[0]["customer_id"], cards=2, wall_ms=WALL_MS)
    for trace in (KNOWN_AS, TOKEN, "tok/second"):
        assert find_files(trace, tmp_path) == []
    for number in (0, PERSONS // 2, PERSONS - 1):
        again = lookup.replace({"customer_id": f"Who{number}!", "card_token": f"Tk{number}!"})
        assert again == before[number]


def test_who_comes_back_is_somebody_else(lookup: Identities) -> None:
    before = buy(lookup)
    erase(lookup)
    assert lookup.find(KNOWN_AS) is None
    assert lookup.erase(KNOWN_AS, WALL_MS) is None
    after = buy(lookup)
    assert not set(after.values()) & {before["customer_id"], before["card_token"]}
    found = lookup.find(KNOWN_AS)
    assert found is not None
    assert found.cards == (TOKEN,)


def test_a_card_of_two_is_erased_with_the_first_of_them(lookup: Identities) -> None:
    buy(lookup)
    other = buy(lookup, "their partner")
    assert erase(lookup).cards == 1
    again = buy(lookup, "their partner")
    assert again["customer_id"] == other["customer_id"]
    assert again["card_token"] != other["card_token"]


def test_an_erasure_waits_for_its_certificate(tmp_path: Path, lookup: Identities) -> None:
    buy(lookup)
    erased = erase(lookup)
    with closing(Identities(tmp_path)) as later:
        assert later.list_uncertified() == [erased]
        later.note_certified(erased)
        assert later.list_uncertified() == []


def test_only_its_owner_reads_the_lookup(tmp_path: Path, lookup: Identities) -> None:
    buy(lookup)
    file = locate_lookup(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_unless_it_is_asked_for_events_stay_as_they_are_sent(tmp_path: Path) -> None:
    edge = open_edge(Settings(data_dir=tmp_path))
    assert isinstance(edge, AsSent)
    event = {"customer_id": KNOWN_AS}
    assert edge.replace(event) is event
    edge.save()
    assert list(tmp_path.iterdir()) == []
