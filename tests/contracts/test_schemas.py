"""The schema lock: what is written today can be read for ever."""

import dataclasses
from pathlib import Path

import pytest

from contracts import ADJUSTMENTS, CONTRACTS, RECEIPTS, get_schema_id
from contracts.errors import StaleLock
from contracts.schemas import (
    LOCK,
    NEWER_LOCK,
    Entry,
    extend,
    find_registered_since,
    load_known,
    load_lock,
    merge,
    render_lock,
)

NEXT = Entry(len(load_lock()) + 1, ADJUSTMENTS.name, {"type": "record"})


def test_the_lock_is_current() -> None:
    wanted = render_lock(extend(load_lock(), CONTRACTS.values()))
    assert LOCK.read_text(encoding="utf-8") == wanted, (
        f"{LOCK.name} lacks the present schema of a contract. "
        "Give it an id, and commit the file: retail contracts release"
    )


def test_every_id_is_given_once_and_counts_from_one() -> None:
    assert [entry.id for entry in load_lock()] == list(range(1, len(load_lock()) + 1))


def test_a_contract_that_returns_to_an_older_schema_keeps_its_old_id() -> None:
    entries = (*load_lock(), NEXT)
    assert extend(entries, [ADJUSTMENTS]) == entries


def test_a_schema_without_an_id_names_the_command_that_gives_one() -> None:
    changed = dataclasses.replace(ADJUSTMENTS, fields=ADJUSTMENTS.fields[:-1])
    with pytest.raises(LookupError, match="retail contracts release"):
        get_schema_id(changed)


@pytest.fixture
def newer_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock beside that of the code, which has one schema more."""
    file = tmp_path / "schemas.lock.json"
    file.write_text(render_lock((*load_known(), NEXT)))  # what is known is loaded by then
    monkeypatch.setenv(NEWER_LOCK, str(file))
    return file


def test_pinned_code_reads_what_a_newer_lock_tells_and_keeps_what_an_older_one_does_not(
    newer_lock: Path,
) -> None:
    assert load_known.__wrapped__() == (*load_lock(), NEXT)
    newer_lock.write_text(render_lock(load_lock()[:1]))
    assert load_known.__wrapped__() == load_lock()


def test_what_the_lock_was_told_since_is_known_by_topic(newer_lock: Path) -> None:
    assert find_registered_since({ADJUSTMENTS.name, RECEIPTS.name}) == {NEXT.id}
    assert find_registered_since({RECEIPTS.name}) == set()


def test_one_id_for_two_schemas_is_refused() -> None:
    other = dataclasses.replace(NEXT, topic=RECEIPTS.name)
    with pytest.raises(StaleLock, match=f"schema {NEXT.id} should mean one thing"):
        merge([NEXT], [other])
