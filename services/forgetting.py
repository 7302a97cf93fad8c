"""Forgetting a customer: erases them from the lookup, and publishes a certificate."""

import logging

from contracts import ERASURES, encode, encode_key
from infra.clock import get_wall_ms
from infra.erasures import note_erasure
from infra.errors import UserError
from infra.identities import Erased, Identities, Person, locate_lookup
from infra.kafka import KafkaDown, create_producer, is_answering, send
from infra.scratch import is_publishing, list_importing
from infra.settings import Settings
from services.traces import find_trace

log = logging.getLogger("forgetting")


class Unknown(UserError):
    """The lookup does not know the id."""

    def __init__(self, customer: str) -> None:
        super().__init__(
            f"Expected the id of a customer, as in the events that were sent, found {customer}, "
            "which the lookup does not know: no event had this id, or the customer is forgotten."
        )


def look_up(settings: Settings, customer: str) -> Person:
    """The customer with this id, as in the log. Raises UserError."""
    return _find(open_lookup(settings), customer)


def forget(settings: Settings, customer: str) -> Erased:
    """Erase the customer and their cards, and publish the certificate.

    It first publishes the certificates that an earlier call could not publish. Raises
    UserError before it erases anything, and NotDelivered after that.
    """
    lookup = open_lookup(settings)
    if is_publishing(settings.data_dir):
        raise UserError(
            "An import or a backup runs, whose rows may name the customer. "
            "Wait for it to end, then try again."
        )
    if left := list_importing(settings.data_dir):
        raise UserError(
            f"{', '.join(map(str, left))} holds rows of files, which may name the customer. "
            "Wait for the import to end; if it was killed, remove the folder."
        )
    if not is_answering(settings):
        raise KafkaDown(settings.bootstrap_servers)
    _certify(settings, lookup)
    person = _find(lookup, customer)
    if place := find_trace(settings, frozenset({customer, *person.cards})):
        raise UserError(
            "No record should name the customer or their cards, but "
            f"{place} does: it was published before PSEUDONYMS=on, or by a client that bypasses "
            "the API. A log never changes. Nothing was erased."
        )
    erased = lookup.erase(customer, get_wall_ms())
    if erased is None:
        raise Unknown(customer)
    _certify(settings, lookup)
    return erased


def open_lookup(settings: Settings) -> Identities:
    """The lookup of the shop. Raises UserError if there is none."""
    lookup = locate_lookup(settings.data_dir)
    if not lookup.exists():
        raise UserError(
            "Only a customer with a pseudonym in the log can be forgotten, but this shop's log has "
            f"the ids themselves: there is no {lookup}. A log never changes. Begin "
            "another one: make reset, then make up PSEUDONYMS=on"
        )
    return Identities(settings.data_dir)


def _find(lookup: Identities, customer: str) -> Person:
    person = lookup.find(customer)
    if person is None:
        raise Unknown(customer)
    return person


def _certify(settings: Settings, lookup: Identities) -> None:
    """Publish the missing certificates of erasures. A second copy of one does no harm."""
    waiting = lookup.list_uncertified()
    if not waiting:
        return
    client = create_producer(settings)
    for erased in waiting:
        try:
            note_erasure(settings.data_dir, erased)
        except OSError as error:  # as in a container: a restore says that it cannot know of it
            log.warning("the list of erasures cannot be written: %s", error)
        value = {
            "customer_id": erased.pseudonym,
            "cards": erased.cards,
            "erased_at": erased.wall_ms,
        }
        send(client, ERASURES.name, encode_key(ERASURES, value), encode(ERASURES, value))
        lookup.note_certified(erased)
