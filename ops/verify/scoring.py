"""The scored alerts: the served ones, or the oracle's."""

from datetime import datetime

from contracts import ALERTS, HEARTBEATS, RECEIPTS, REFUNDS
from contracts.times import EPOCH
from infra.kafka import Partition, create_admin, read_end_offsets
from infra.settings import Settings, locate_root
from ops.control.reading import ALL_FIELDS, read_newest_rows
from ops.verify.fraud import ask_fraud_oracle
from ops.verify.fraud_score import Alert, compute_scores, read_incidents
from ops.verify.fraud_scores import Scores
from ops.verify.limits import find_code, load_thresholds
from ops.verify.served import fetch_views
from pipelines.fraud.thresholds import Thresholds

READ = tuple(one.name for one in (RECEIPTS, REFUNDS, HEARTBEATS))
BEATS: Partition = (HEARTBEATS.name, 0)
BEATS_READ = 1_000  # the last ones, in case others than heartbeats are among them

# Read incidents first: then the log holds all events of each.


def score_view(settings: Settings) -> Scores:
    """Score the served alerts, up to the world's time at their marker. Raises ApiDown."""
    planted = read_incidents(settings)
    live = fetch_views(settings, "fraud")
    alerts = live.views[ALERTS.name]
    limits = load_thresholds(find_code(settings, "fraud", live.generation), "fraud")
    return compute_scores(
        lambda: map(Alert, alerts), planted, read_heartbeat(settings, live.inputs[BEATS]), limits
    )


def score_log(settings: Settings) -> Scores:
    """Score the oracle's alerts, at the end of the log."""
    planted = read_incidents(settings)
    oracle = ask_fraud_oracle(
        settings, read_end_offsets(create_admin(settings), READ), locate_root()
    )
    return compute_scores(
        lambda: map(Alert, oracle.compute_view()), planted, oracle.ends_at, Thresholds()
    )


def read_heartbeat(settings: Settings, end: int) -> datetime:
    """The world's time by the last heartbeat below the offset; 1970 before the first."""
    starts = {BEATS: max(0, end - BEATS_READ)}
    last = read_newest_rows(settings, ALL_FIELDS, HEARTBEATS, starts, {BEATS: end})
    happened: list[datetime] = [row["event_time"] for row in last.values()]
    return max(happened, default=EPOCH)
