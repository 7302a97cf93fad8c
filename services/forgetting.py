"""Forgetting a customer: erases them from the lookup, and publishes a certificate."""

from collections.abc import Set
from pathlib import Path

from contracts import ERASURES, RECEIPTS, REFUNDS, Undecodable, encode, encode_key
from contracts.consumer import create_reader
from infra.errors import UserError
from infra.identities import FIELDS, Erased, Identities, Person, locate_lookup
from infra.kafka import (
    KafkaDown,
    create_admin,
    create_producer,
    is_answering,
    read_between,
    read_end_offsets,
    send,
)
from infra.scratch import list_scratch
from infra.settings import Settings
from services.clock import get_wall_ms

NAMING = (RECEIPTS.name, REFUNDS.name)
"""The topics whose events name customers."""

decode = create_reader("forgetting")


class NeverReplaced(UserError):
    """The shop has no lookup: its log has the ids of customers, and never changes."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            "Only a customer with a pseudonym in the log can be forgotten, but this shop's log has "
            f"the ids themselves: there is no {locate_lookup(home)}. A log never changes. Begin "
            "another one: make reset, then make up PSEUDONYMS=on"
        )


class Unknown(UserError):
    """The lookup does not know the id."""

    def __init__(self, customer: str) -> None:
        super().__init__(
            f"Expected the id of a customer, as in the events that were sent, found {customer}, "
            "which the lookup does not know: no event had this id, or the customer is forgotten."
        )


class RowsLeft(UserError):
    """The data folder holds rows of files, which may name the customer."""

    def __init__(self, folders: list[Path]) -> None:
        super().__init__(
            f"{', '.join(map(str, folders))} holds rows of files, which may name the customer. "
            "Wait for the load or import to end; if it was killed, remove the folder."
        )


class StillNamed(UserError):
    """The log has an event with an id in place of a pseudonym."""

    def __init__(self, topic: str, partition: int, offset: int) -> None:
        super().__init__(
            "No event of the log should name the customer or their cards, but "
            f"{topic}/{partition}/{offset} does: it was published before PSEUDONYMS=on, or by a "
            "client that bypasses the API. A log never changes. Nothing was erased."
        )


def look_up(settings: Settings, customer: str) -> Person:
    """The customer with this id, as in the log. Raises NeverReplaced and Unknown."""
    person = open_lookup(settings).find(customer)
    if person is None:
        raise Unknown(customer)
    return person


def forget(settings: Settings, customer: str) -> Erased:
    """Erase the customer and their cards, and publish the certificate.

    It first publishes the certificates that an earlier call could not publish. Raises
    NeverReplaced, RowsLeft, Unknown, StillNamed and KafkaDown before it erases anything, and
    NotDelivered after that.
    """
    lookup = open_lookup(settings)
    if left := list_scratch(settings.data_dir):
        raise RowsLeft(left)
    if not is_answering(settings):
        raise KafkaDown(settings.bootstrap_servers)
    _certify(settings, lookup)
    person = lookup.find(customer)
    if person is None:
        raise Unknown(customer)
    refuse_named(settings, {customer, *person.cards})
    erased = lookup.erase(customer, get_wall_ms())
    if erased is None:
        raise Unknown(customer)
    _certify(settings, lookup)
    return erased


def refuse_named(settings: Settings, ids: Set[str]) -> None:
    """Raise StillNamed for a readable event that has one of the ids."""
    traces = [one.encode() for one in ids]
    for message in read_between(settings, {}, read_end_offsets(create_admin(settings), NAMING)):
        value = message.value() or b""
        if not any(trace in value for trace in traces):
            continue  # decoding only possible matches is ten times as fast
        try:
            event = decode(value).value
        except Undecodable:
            continue
        if not ids.isdisjoint(event[field] for field in FIELDS):
            raise StillNamed(
                str(message.topic()), int(message.partition() or 0), int(message.offset() or 0)
            )


def open_lookup(settings: Settings) -> Identities:
    """The lookup of the shop. Raises NeverReplaced if there is none."""
    if not locate_lookup(settings.data_dir).exists():
        raise NeverReplaced(settings.data_dir)
    return Identities(settings.data_dir)


def _certify(settings: Settings, lookup: Identities) -> None:
    """Publish the missing certificates of erasures. A second copy of one does no harm."""
    waiting = lookup.list_uncertified()
    if not waiting:
        return
    client = create_producer(settings)
    for one in waiting:
        value = {
            "customer_id": one.pseudonym,
            "cards": one.cards,
            "erased_at": one.wall_ms,
        }
        send(client, ERASURES.name, encode_key(ERASURES, value), encode(ERASURES, value))
        lookup.note_certified(one)
