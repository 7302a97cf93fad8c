"""The lookup: the ids of customers and cards, and the pseudonyms that the log has instead.

Events get pseudonyms before they are published, so the log never holds the id of a person. The
lookup is separate from the log, so an entry can be erased. A pseudonym is random: only the lookup
leads from it to a person.
"""

import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from infra.settings import Settings

FOLDER = "identities"
FILE = "lookup.sqlite"
FOLDER_MODE, FILE_MODE = 0o700, 0o600
CUSTOMER, CARD = "customer", "card"
FIELDS: Mapping[str, str] = {"customer_id": CUSTOMER, "card_token": CARD}
"""The fields of events that get a pseudonym, and the kind of each."""
PSEUDONYM_BYTES = 15
BUSY_SECONDS_MAX = 30.0
"""How long this process waits for another one that writes to the lookup."""

TABLES = """
create table if not exists identity (
    kind text not null,
    known_as text not null,
    pseudonym text not null unique,
    primary key (kind, known_as)
) without rowid;
create table if not exists shown (
    customer text not null,  -- both by their pseudonyms
    card text not null,
    primary key (customer, card)
) without rowid;
create table if not exists erased (
    customer text not null primary key,  -- the pseudonym: whom it was is not known any more
    cards integer not null,
    wall_ms integer not null
) without rowid;
"""

CARDS = "select card from shown where customer = ?"


@dataclass(frozen=True, slots=True)
class Person:
    """A customer, as in the log."""

    pseudonym: str
    cards: tuple[str, ...]
    """The ids of their cards."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A customer who was erased from the lookup."""

    pseudonym: str
    cards: int
    """The number of cards that were erased with them."""
    wall_ms: int
    """The time of the erasure, by the wall clock, in epoch milliseconds."""


class Edge(Protocol):
    """The last step before an event is published."""

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]: ...

    def save(self) -> None: ...


class AsSent:
    """An edge that leaves events unchanged."""

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event itself."""
        return event

    def save(self) -> None:
        """Do nothing: there are no pseudonyms."""


class Identities:
    """The lookup of a data folder. It keeps nothing in memory, so several processes may use it."""

    def __init__(self, home: Path) -> None:
        self._lock = Lock()
        file = locate_lookup(home)
        file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        file.touch(FILE_MODE)
        self._database = sqlite3.connect(
            file, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
        )
        self._database.execute("pragma secure_delete = on")
        self._database.execute("pragma temp_store = memory")  # no id in a temporary file
        self._database.executescript(TABLES)

    def close(self) -> None:
        """Close the file and discard unsaved pseudonyms."""
        self._database.close()

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event with pseudonyms in FIELDS. Call `save` before the event is sent."""
        named = {field: kind for field, kind in FIELDS.items() if event.get(field) is not None}
        if not named:
            return event
        with self._lock:
            pseudonyms = {field: self._take(kind, event[field]) for field, kind in named.items()}
            if pseudonyms.keys() == FIELDS.keys():
                self._note_card(*(pseudonyms[field] for field in FIELDS))
        return {**event, **pseudonyms}

    def save(self) -> None:
        """Save every pseudonym drawn so far."""
        with self._lock:
            if self._database.in_transaction:
                self._database.execute("commit")

    def find(self, customer: str) -> Person | None:
        """The customer with this id; None where the lookup has none."""
        with self._lock:
            pseudonym = self._find(CUSTOMER, customer)
            if pseudonym is None:
                return None
            return Person(pseudonym, self._list_cards(pseudonym))

    def erase(self, customer: str, wall_ms: int) -> Erased | None:
        """Erase the id of the customer and of every card of theirs, from the bytes of the file too.

        Returns None where the lookup has no customer with this id.
        """
        with self._lock:
            self._begin()
            pseudonym = self._find(CUSTOMER, customer)
            if pseudonym is None:
                self._database.execute("rollback")
                return None
            erased = Erased(pseudonym, len(self._list_cards(pseudonym)), wall_ms)
            self._erase(erased)
            return erased

    def erase_again(self, erased: Erased) -> bool:
        """Erase the customer of an earlier erasure, if this lookup, of a backup, knows them.

        Their certificate may have come after the backup, so it is owed once more.
        """
        with self._lock:
            self._begin()
            row = self._database.execute(
                "select 1 from identity where pseudonym = ?", (erased.pseudonym,)
            ).fetchone()
            if row is None:
                self._database.execute("rollback")
                return False
            self._erase(erased)
            return True

    def _erase(self, erased: Erased) -> None:
        """Erase the customer and their cards, and end the transaction."""
        customer = (erased.pseudonym,)
        self._database.execute(f"delete from identity where pseudonym in ({CARDS})", customer)
        self._database.execute("delete from identity where pseudonym = ?", customer)
        self._database.execute(f"delete from shown where card in ({CARDS})", customer)
        self._database.execute("delete from shown where customer = ?", customer)
        row = (erased.pseudonym, erased.cards, erased.wall_ms)
        self._database.execute("insert or replace into erased values (?, ?, ?)", row)
        self._database.execute("commit")
        # Rewritten pages may hold copies that secure_delete misses.
        self._database.execute("vacuum")

    def list_uncertified(self) -> list[Erased]:
        """The erasures without a certificate in the log."""
        with self._lock:
            rows = self._database.execute("select * from erased order by wall_ms, customer")
            return [Erased(*row) for row in rows]

    def note_certified(self, erased: Erased) -> None:
        """Note that the log has the certificate."""
        with self._lock:
            self._database.execute("delete from erased where customer = ?", (erased.pseudonym,))

    def _begin(self) -> None:
        """Begin a transaction, unless there is one. It keeps other writers out."""
        if not self._database.in_transaction:
            self._database.execute("begin immediate")

    def _take(self, kind: str, known_as: str) -> str:
        """The pseudonym of the id; for an unknown id, draw one."""
        pseudonym = self._find(kind, known_as)
        if pseudonym is not None:
            return pseudonym
        self._begin()
        drawn = f"{kind}-{secrets.token_hex(PSEUDONYM_BYTES)}"
        self._database.execute(
            "insert into identity values (?, ?, ?) on conflict (kind, known_as) do nothing",
            (kind, known_as, drawn),
        )
        # Another process may have been faster.
        return self._find(kind, known_as) or drawn

    def _find(self, kind: str, known_as: str) -> str | None:
        row = self._database.execute(
            "select pseudonym from identity where kind = ? and known_as = ?", (kind, known_as)
        ).fetchone()
        return None if row is None else str(row[0])

    def _note_card(self, customer: str, card: str) -> None:
        row = self._database.execute(
            "select 1 from shown where customer = ? and card = ?", (customer, card)
        ).fetchone()
        if row is None:
            self._begin()
            self._database.execute("insert or ignore into shown values (?, ?)", (customer, card))

    def _list_cards(self, customer: str) -> tuple[str, ...]:
        query = f"select known_as from identity where pseudonym in ({CARDS}) order by known_as"
        return tuple(str(row[0]) for row in self._database.execute(query, (customer,)))


def locate_lookup(home: Path) -> Path:
    return home / FOLDER / FILE


def open_edge(settings: Settings) -> Edge:
    """The edge of these settings."""
    return Identities(settings.data_dir) if settings.pseudonyms else AsSent()
