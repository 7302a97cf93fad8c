"""retail score fraud: how good alerts are, compared with the simulator's incidents."""

import json
from dataclasses import asdict

import typer

from infra.settings import read_settings
from ops.cli import screen
from ops.cli.options import AsJson
from ops.cli.topics import require_broker
from ops.verify.fraud_score import Scores, Share, score_view

HEADINGS = ("rule", "caught", "recall", "right", "precision", "near: caught")

app = typer.Typer(no_args_is_help=True)


@app.command()
def fraud(as_json: AsJson = False) -> None:
    """Score the alerts that are served, by incident."""
    settings = require_broker(read_settings())
    with screen.show_waiting("score", "reading the alerts, and what was planted"):
        scores = score_view(settings)
    if as_json:
        print(json.dumps(build_document(scores)))
    else:
        show(scores)
    if not scores.good:
        raise typer.Exit(1)


def show(scores: Scores) -> None:
    rows = [
        (
            rule,
            str(score.recall),
            render_percent(score.recall),
            str(score.precision),
            render_percent(score.precision),
            str(score.near_caught),
        )
        for rule, score in {**scores.by_rule, "all": scores.total}.items()
    ]
    screen.print_table(HEADINGS, rows)
    screen.say(f"  {'reached' if scores.good else 'NOT REACHED'}: recall 95 %, precision 90 %,")
    screen.say("  and 85 % in both by every rule")


def render_percent(share: Share) -> str:
    return f"{share.share:.1%}" if share.of else "none"


def build_document(scores: Scores) -> dict[str, object]:
    by_rule = {**scores.by_rule, "all": scores.total}
    return {
        "good": scores.good,
        **{
            rule: {
                name: {**share, "share": getattr(score, name).share}
                for name, share in asdict(score).items()
            }
            for rule, score in by_rule.items()
        },
    }
