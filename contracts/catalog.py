"""The contracts of this repository, each under its name."""

from collections.abc import Mapping
from pathlib import Path

from contracts.errors import UnknownContract
from contracts.loader import load
from contracts.shape import Contract

CONTRACTS: Mapping[str, Contract] = load(Path(__file__).parent)


def contract(name: str) -> Contract:
    """The contract of the name. Raises UnknownContract."""
    try:
        return CONTRACTS[name]
    except KeyError:
        raise UnknownContract(name, CONTRACTS) from None


RECEIPTS = contract("public.sales.receipt.v1")
REFUNDS = contract("public.sales.refund.v1")
SHIPMENTS = contract("public.logistics.shipment.v1")
ADJUSTMENTS = contract("public.inventory.adjustment.v1")
PRODUCTS = contract("public.catalog.product.v1")
STORES = contract("public.catalog.store.v1")
PRICE_CHANGES = contract("public.pricing.price-change.v1")
PROMOTIONS = contract("public.pricing.promotion.v1")
STOCK_LEVELS = contract("public.inventory.stock-level.v1")
STORE_SALES = contract("public.analytics.store-sales.v1")
BEST_SELLERS = contract("public.analytics.best-seller.v1")
DAILY_DEMAND = contract("public.analytics.daily-demand.v1")
VISITS = contract("public.analytics.visit.v1")
GENERATIONS = contract("private.control.generation.v1")
MARKERS = contract("private.control.marker.v1")
READERS = contract("private.control.reader.v1")
BOOKS = contract("private.control.book.v1")
CLOCKS = contract("private.control.clock.v1")
HEARTBEATS = contract("public.world.heartbeat.v1")
QUARANTINE = contract("private.quarantine.record.v1")
RELEASES = contract("public.quarantine.release.v1")
ACTIONS = contract("private.audit.action.v1")
LEDGER = contract("private.simulation.ledger.v1")
INCIDENTS = contract("private.simulation.incident.v1")
ALERTS = contract("public.fraud.alert.v1")
PROPOSALS = contract("public.replenishment.proposal.v1")
PURCHASE_ORDERS = contract("public.replenishment.purchase-order.v1")
CONFIRMATIONS = contract("public.replenishment.confirmation.v1")
ERASURES = contract("private.customers.erasure.v1")
