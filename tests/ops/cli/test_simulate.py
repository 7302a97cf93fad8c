"""What `retail simulate` publishes and says; the log is replaced."""

from pathlib import Path

import pytest

from contracts import LOADS, encode, encode_key
from infra.errors import UserError
from infra.settings import Settings
from ops.cli import simulate
from ops.control.load import (
    FACTOR_MAX,
    HITS_MAX,
    QUIET_STORES_MAX,
    RECEIPTS_PER_SECOND_MAX,
    RECEIPTS_PER_SECOND_MIN,
    SPEED_MAX,
    SPEED_MIN,
    Load,
)
from ops.control.reading import ALL_FIELDS
from tests.ops.cli.commands import run_command


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[Load]:
    """The loads so far: the last one is in force."""
    loads: list[Load] = []
    monkeypatch.setattr(simulate, "read_settings", lambda: settings)
    monkeypatch.setattr(simulate, "require_broker", lambda current: current)
    monkeypatch.setattr(simulate, "read_load", lambda _: loads[-1] if loads else Load())
    monkeypatch.setattr(simulate, "publish_load", lambda _, load, __: loads.append(load))
    return loads


def turn(*words: str) -> list[str]:
    """The rows of the answer, without their padding."""
    return [" ".join(line.split()) for line in run_command("simulate", *words).splitlines()]


def test_what_is_turned_holds_until_it_is_turned_again(published: list[Load]) -> None:
    assert turn()[1:] == [
        "receipts a second 20 20",
        "speed 10 10",
        "quiet stores none none",
        "hits none none",
    ]
    assert published == []
    turn("--receipts-per-second", "100", "--quiet-store", "S003", "--hit", "SKU-00417")
    turn("--speed", "30", "--quiet-store", "S001", "--hit", "SKU-00001=2.5")
    assert turn()[1:] == [
        "receipts a second 100 20",
        "speed 30 10",
        "quiet stores S001, S003 none",
        "hits SKU-00417 × 5, SKU-00001 × 2.5 none",
    ]
    turn("--loud-store", "S003", "--hit", "SKU-00417=1")
    assert [load[1:] for load in published] == [
        (100_000, None, ["S003"], {"SKU-00417": 500}),
        (100_000, 30_000, ["S001", "S003"], {"SKU-00417": 500, "SKU-00001": 250}),
        (100_000, 30_000, ["S001"], {"SKU-00001": 250}),
    ]
    turn("--usual", "--hit", "SKU-00002")
    assert published[-1][1:] == (None, None, [], {"SKU-00002": 500})
    assert len({load.load_id for load in published}) == 4


def test_who_asks_for_what_already_holds_publishes_nothing(published: list[Load]) -> None:
    turn("--speed", "30", "--hit", "SKU-00001")
    turn("--speed", "30", "--hit", "SKU-00001", "--loud-store", "S001")
    assert len(published) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--quiet-store", "S012"), "S000 to S011"),
        (("--quiet-store", "S03"), "S000 to S011"),
        (("--loud-store", "berlin"), "S000 to S011"),
        (("--hit", "SKU-00800"), "SKU-00000 to SKU-00799"),
        (("--hit", "SKU-417"), "SKU-00000 to SKU-00799"),
        (("--hit", "SKU-00417=much"), "a factor from 0.01 to 100"),
        (("--hit", "SKU-00417=nan"), "a factor from 0.01 to 100"),
        (("--hit", f"SKU-00417={FACTOR_MAX + 1}"), "a factor from 0.01 to 100"),
    ],
)
def test_what_the_world_does_not_have_is_refused(
    published: list[Load], words: tuple[str, str], expected: str
) -> None:
    with pytest.raises(UserError, match=f"{expected}.*found"):
        turn(*words)
    assert published == []


@pytest.mark.parametrize(
    ("option", "low", "high"),
    [
        ("--receipts-per-second", RECEIPTS_PER_SECOND_MIN, RECEIPTS_PER_SECOND_MAX),
        ("--speed", SPEED_MIN, SPEED_MAX),
    ],
)
def test_a_value_beyond_its_limits_is_refused_and_the_contract_takes_those_within(
    published: list[Load], option: str, low: float, high: float
) -> None:
    for value in (low / 2, high + 1, float("nan")):
        with pytest.raises(UserError, match=f"from {low:g} to {high:g}, found {value:g}"):
            turn(option, str(value))
    for value in (low, high):
        turn(option, str(value))
    assert len(published) == 2
    assert [is_taken(load) for load in published] == [True, True]


def test_there_are_limits_to_quiet_stores_and_to_hits(
    published: list[Load], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = settings.model_copy(update={"simulator_stores": 10_000})
    monkeypatch.setattr(simulate, "read_settings", lambda: large)
    stores = [f"--quiet-store=S{number:03d}" for number in range(QUIET_STORES_MAX)]
    skus = [f"--hit=SKU-{number:05d}=100" for number in range(HITS_MAX)]
    turn(*stores, *skus)
    assert is_taken(published[-1])
    for extra, way_out in (("--quiet-store=S900", "--loud-store"), ("--hit=SKU-00700", "SKU=1")):
        with pytest.raises(UserError, match=way_out):
            turn(extra)


def is_taken(load: Load) -> bool:
    """Whether a reader takes the record, and finds the same load in it."""
    row = load.to_row(turned_ms=0)
    record = encode_key(LOADS, row), encode(LOADS, row)
    read = ALL_FIELDS.read(LOADS, (LOADS.name, 0, 0), *record, published_ms=0)
    return read is not None and Load.parse(read) == load


def test_an_own_world_has_no_load_to_turn(
    published: list[Load], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = settings.model_copy(update={"world": "own"})
    monkeypatch.setattr(simulate, "read_settings", lambda: own)
    with pytest.raises(UserError, match="found WORLD=own"):
        turn("--speed", "30")
