"""Subscriptions as tests need them."""

from contracts import STOCK_LEVELS, Contract
from services.subscriptions.records import Subscription


def create_subscription(*filters: str, view: Contract = STOCK_LEVELS) -> Subscription:
    """A subscription to changes after the first marker."""
    return Subscription(
        subscription_id="9f31c0d2a4b5e6f7",
        view=view.name,
        filters=filters,
        address="https://hooks.example.com/",
        generation=1,
        batch=0,
        offsets={},
        from_beginning=False,
        created_at=0,
        created_by="operator",
    )
