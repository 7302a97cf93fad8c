"""retail score: how good the alerts are, by the incidents that the simulator planted."""

import typer

from infra.settings import read_settings
from ops.cli import screen
from ops.cli.topics import require_broker
from ops.verify.fraud_score import Scores, Share, score_view

HEADINGS = ("rule", "caught", "recall", "right", "precision")


def score() -> None:
    """Score the alerts that are served, by incident."""
    settings = require_broker(read_settings())
    with screen.show_waiting("score", "reading the alerts, and what was planted"):
        scores = score_view(settings)
    show(scores)
    if not scores.good:
        raise typer.Exit(1)


def show(scores: Scores) -> None:
    by_rule = {**scores.by_rule, "all": scores.total}
    screen.print_table(
        HEADINGS,
        [
            (
                rule,
                str(score.recall),
                render_percent(score.recall),
                str(score.precision),
                render_percent(score.precision),
            )
            for rule, score in by_rule.items()
        ],
    )
    screen.say(f"  {'reached' if scores.good else 'NOT REACHED'}: recall 95 %, precision 90 %,")
    screen.say("  and 85 % in both by every rule")


def render_percent(share: Share) -> str:
    return f"{share.share:.1%}" if share.of else "none"
