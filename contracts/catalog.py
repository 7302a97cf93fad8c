"""The contracts of this repository, each under its name."""

from collections.abc import Mapping
from pathlib import Path

from contracts.errors import UnknownContract
from contracts.loader import load
from contracts.shape import Contract

CONTRACTS: Mapping[str, Contract] = load(Path(__file__).parent)


def get_contract(name: str) -> Contract:
    """The contract of the name. Raises UnknownContract."""
    try:
        return CONTRACTS[name]
    except KeyError:
        raise UnknownContract(name, CONTRACTS) from None


RECEIPTS = get_contract("public.sales.receipt.v1")
REFUNDS = get_contract("public.sales.refund.v1")
SHIPMENTS = get_contract("public.logistics.shipment.v1")
ADJUSTMENTS = get_contract("public.inventory.adjustment.v1")
PRODUCTS = get_contract("public.catalog.product.v1")
STORES = get_contract("public.catalog.store.v1")
PRICE_CHANGES = get_contract("public.pricing.price-change.v1")
PROMOTIONS = get_contract("public.pricing.promotion.v1")
STOCK_LEVELS = get_contract("public.inventory.stock-level.v1")
STORE_SALES = get_contract("public.analytics.store-sales.v1")
BEST_SELLERS = get_contract("public.analytics.best-seller.v1")
DAILY_DEMAND = get_contract("public.analytics.daily-demand.v1")
VISITS = get_contract("public.analytics.visit.v2")
GENERATIONS = get_contract("private.control.generation.v1")
MARKERS = get_contract("private.control.marker.v1")
READERS = get_contract("private.control.reader.v1")
BOOKS = get_contract("private.control.book.v1")
CLOCKS = get_contract("private.control.clock.v1")
LOADS = get_contract("private.control.load.v1")
HEARTBEATS = get_contract("public.world.heartbeat.v1")
QUARANTINE = get_contract("private.quarantine.record.v1")
RELEASES = get_contract("public.quarantine.release.v1")
ACTIONS = get_contract("private.audit.action.v1")
LEDGER = get_contract("private.simulation.ledger.v1")
INCIDENTS = get_contract("private.simulation.incident.v1")
ALERTS = get_contract("public.fraud.alert.v1")
MARKDOWN_PROPOSALS = get_contract("public.pricing.markdown-proposal.v1")
POSITION_CHANGES = get_contract("public.replenishment.position-change.v1")
PROPOSALS = get_contract("public.replenishment.proposal.v1")
PURCHASE_ORDERS = get_contract("public.replenishment.purchase-order.v1")
CONFIRMATIONS = get_contract("public.replenishment.confirmation.v1")
ERASURES = get_contract("private.customers.erasure.v1")
