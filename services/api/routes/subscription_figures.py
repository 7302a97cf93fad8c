"""Figures, for Prometheus, of subscriptions: how far each is, and what waits for its receiver."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from services.api.routes.subscriptions import measure_lag
from services.api.store.errors import MirrorLoading
from services.api.store.store import Store
from services.clock import get_wall_ms
from services.subscriptions.records import PARKED, Progress, Subscription

LABELS = ("subscription", "view")


HELP = {
    "lag_records": "Records of the changelog that were not looked at for a subscription.",
    "waiting": "Notifications that wait for their receiver.",
    "waiting_seconds": "How long the notification that is tried has waited; 0 while none is.",
    "parked": "1 until somebody resumes the subscription.",
    "delivered": "Notifications that the receiver took.",
}


def measure_subscriptions(store: Store) -> Iterator[Metric]:
    """No samples while the API still reads the topics of subscriptions."""
    metrics = {
        name: (CounterMetricFamily if name == "delivered" else GaugeMetricFamily)(
            f"retail_subscription_{name}", says, labels=LABELS
        )
        for name, says in HELP.items()
    }
    with suppress(MirrorLoading):
        for subscription, progress in store.subscriptions.list_all():
            labels = subscription.subscription_id, subscription.view
            for name, value in _measure(store, subscription, progress).items():
                if value is not None:
                    metrics[name].add_metric(labels, value)
    yield from metrics.values()


def _measure(
    store: Store, subscription: Subscription, progress: Progress
) -> Mapping[str, float | None]:
    now_ms = get_wall_ms()
    return {
        "lag_records": measure_lag(store, subscription, progress),
        "waiting": progress.waiting,
        "waiting_seconds": (now_ms - (progress.waiting_since or now_ms)) / 1000,
        "parked": progress.state == PARKED,
        "delivered": progress.delivered,
    }
