"""Figures, for Prometheus, of subscriptions: how far each is, and what waits for its receiver."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from services.api.routes.subscriptions import measure_lag
from services.api.store.errors import MirrorLoading
from services.api.store.store import Store
from services.clock import get_wall_ms
from services.subscriptions.records import PARKED

LABELS = ("subscription", "view")


def measure_subscriptions(store: Store) -> Iterator[Metric]:
    """No samples while the API still reads the topics of subscriptions."""
    lag = GaugeMetricFamily(
        "retail_subscription_lag_records",
        "Records of the changelog that were not looked at for a subscription.",
        labels=LABELS,
    )
    waiting = GaugeMetricFamily(
        "retail_subscription_waiting", "Notifications that wait for their receiver.", labels=LABELS
    )
    age = GaugeMetricFamily(
        "retail_subscription_waiting_seconds",
        "How long the notification that is tried has waited; 0 while none is.",
        labels=LABELS,
    )
    parked = GaugeMetricFamily(
        "retail_subscription_parked", "1 until somebody resumes the subscription.", labels=LABELS
    )
    delivered = CounterMetricFamily(
        "retail_subscription_delivered", "Notifications that the receiver took.", labels=LABELS
    )
    try:
        every = store.subscriptions.list_all()
    except MirrorLoading:
        every = []
    now_ms = get_wall_ms()
    for subscription, progress in every:
        labels = subscription.subscription_id, subscription.view
        if (records := measure_lag(store, subscription, progress)) is not None:
            lag.add_metric(labels, records)
        waiting.add_metric(labels, progress.waiting)
        age.add_metric(labels, (now_ms - (progress.waiting_since or now_ms)) / 1000)
        parked.add_metric(labels, progress.state == PARKED)
        delivered.add_metric(labels, progress.delivered)
    yield from (lag, waiting, age, parked, delivered)
