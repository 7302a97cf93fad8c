"""Who is who: the ids that customers and cards are known by, and the pseudonyms of the log.

Events are given pseudonyms before they are published, so the log never holds what a person is known
by. The lookup between the two stands beside the log, where it can be erased. A pseudonym is drawn:
nothing but the lookup leads from it to a person.
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
"""The fields of events that are replaced, and whom or what each names."""
PSEUDONYM_BYTES = 15
BUSY_SECONDS_MAX = 30.0
"""How long another process may write to the lookup before this one gives up."""

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
    """A customer as the log has them."""

    pseudonym: str
    cards: tuple[str, ...]
    """What the cards are known by that they showed."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A customer whom the lookup does not know any more."""

    pseudonym: str
    cards: int
    """How many cards were erased with them."""
    wall_ms: int
    """When, by the wall clock."""


class Edge(Protocol):
    """What an event passes before it is published."""

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]: ...

    def save(self) -> None: ...


class AsSent:
    """An edge at which events stay as they were sent."""

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event itself."""
        return event

    def save(self) -> None:
        """Do nothing: nothing was replaced."""


class Identities:
    """The lookup of a data folder. Several processes may use it; nothing is kept in memory."""

    def __init__(self, home: Path) -> None:
        self._lock = Lock()
        file = locate_lookup(home)
        file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        file.touch(FILE_MODE)
        self._database = sqlite3.connect(
            file, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
        )
        self._database.execute("pragma secure_delete = on")
        self._database.execute("pragma temp_store = memory")  # nobody's id in a file elsewhere
        self._database.executescript(TABLES)

    def close(self) -> None:
        """Let go of the file; what was not saved is as if it had never been replaced."""
        self._database.close()

    def replace(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event with pseudonyms for whom it names. `save` has to follow before it is sent."""
        named = {field: kind for field, kind in FIELDS.items() if event.get(field) is not None}
        if not named:
            return event
        with self._lock:
            found = {field: self._take(kind, event[field]) for field, kind in named.items()}
            if found.keys() == FIELDS.keys():
                self._note_card(*(found[field] for field in FIELDS))
        return {**event, **found}

    def save(self) -> None:
        """Keep every pseudonym that was drawn so far."""
        with self._lock:
            if self._database.in_transaction:
                self._database.execute("commit")

    def find(self, customer: str) -> Person | None:
        """The customer who is known by this id."""
        with self._lock:
            pseudonym = self._find(CUSTOMER, customer)
            if pseudonym is None:
                return None
            return Person(pseudonym, self._list_cards(pseudonym))

    def erase(self, customer: str, wall_ms: int) -> Erased | None:
        """Erase what the customer is known by, and every card that they showed.

        None: nobody is known by this id. The bytes are gone from the file, too.
        """
        with self._lock:
            self._begin()
            pseudonym = self._find(CUSTOMER, customer)
            if pseudonym is None:
                self._database.execute("rollback")
                return None
            erased = Erased(pseudonym, len(self._list_cards(pseudonym)), wall_ms)
            cards = f"delete from identity where pseudonym in ({CARDS})"
            self._database.execute(cards, (pseudonym,))
            self._database.execute("delete from identity where pseudonym = ?", (pseudonym,))
            self._database.execute(f"delete from shown where card in ({CARDS})", (pseudonym,))
            self._database.execute("delete from shown where customer = ?", (pseudonym,))
            row = (pseudonym, erased.cards, wall_ms)
            self._database.execute("insert into erased values (?, ?, ?)", row)
            self._database.execute("commit")
            # Pages that were written anew may hold copies that secure_delete does not know of.
            self._database.execute("vacuum")
            return erased

    def list_uncertified(self) -> list[Erased]:
        """The erasures of which the log does not say yet that they were made."""
        with self._lock:
            rows = self._database.execute("select * from erased order by wall_ms, customer")
            return [Erased(*row) for row in rows]

    def note_certified(self, erased: Erased) -> None:
        """The log says so."""
        with self._lock:
            self._database.execute("delete from erased where customer = ?", (erased.pseudonym,))

    def _begin(self) -> None:
        """Begin to write, unless it has begun. Nobody else writes until then."""
        if not self._database.in_transaction:
            self._database.execute("begin immediate")

    def _take(self, kind: str, known_as: str) -> str:
        """The pseudonym; one is drawn for whom the lookup does not know."""
        found = self._find(kind, known_as)
        if found is not None:
            return found
        self._begin()
        drawn = f"{kind}-{secrets.token_hex(PSEUDONYM_BYTES)}"
        self._database.execute(
            "insert into identity values (?, ?, ?) on conflict (kind, known_as) do nothing",
            (kind, known_as, drawn),
        )
        # Another process may have been faster.
        return self._find(kind, known_as) or drawn

    def _find(self, kind: str, known_as: str) -> str | None:
        found = self._database.execute(
            "select pseudonym from identity where kind = ? and known_as = ?", (kind, known_as)
        ).fetchone()
        return None if found is None else str(found[0])

    def _note_card(self, customer: str, card: str) -> None:
        known = self._database.execute(
            "select 1 from shown where customer = ? and card = ?", (customer, card)
        ).fetchone()
        if known is None:
            self._begin()
            self._database.execute("insert or ignore into shown values (?, ?)", (customer, card))

    def _list_cards(self, customer: str) -> tuple[str, ...]:
        known = f"select known_as from identity where pseudonym in ({CARDS}) order by known_as"
        return tuple(str(row[0]) for row in self._database.execute(known, (customer,)))


def locate_lookup(home: Path) -> Path:
    return home / FOLDER / FILE


def open_edge(settings: Settings) -> Edge:
    """What events pass under these settings."""
    return Identities(settings.data_dir) if settings.pseudonyms else AsSent()
